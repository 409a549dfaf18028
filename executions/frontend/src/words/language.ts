/** The language of the page, and its messages. */
import type { de } from "./de";
import { en } from "./en";
import type { es } from "./es";
import type { Differing, Key, Message, Translation } from "./types";

// English is part of the bundle. Each other language is a chunk that is loaded if a page needs it.
// These chunks must not import anything: the page waits for its language, so the imported module
// would wait for the chunk, and the chunk for the module.
const OTHERS = {
  de: async (): Promise<Translation> => (await import("./de")).de,
  es: async (): Promise<Translation> => (await import("./es")).es,
};

/** A compile error here names the messages whose variables differ from the English ones. */
type Fitting<Wrong extends never> = Wrong;
export type Checked = Fitting<Differing<typeof de> | Differing<typeof es>>;

type Other = keyof typeof OTHERS;
type Language = "en" | Other;

interface Spoken {
  language: Language;
  /** The locale of dates and numbers, such as "de-AT" or "de". */
  locale: string;
  plurals: Intl.PluralRules;
  messages: Readonly<Record<Key, Message>>;
}

const ENGLISH: Spoken = {
  language: "en",
  locale: "en",
  plurals: new Intl.PluralRules("en"),
  messages: en,
};

/** The language of the page. */
export let spoken = ENGLISH;

/** Switch to the language of a tag ("de", "de-AT"); to English if it is not supported. */
export async function speak(tag: string): Promise<void> {
  spoken = await spokenBy(tag);
}

async function spokenBy(tag: string): Promise<Spoken> {
  const language = tag.toLowerCase().split(/[-_]/)[0] ?? "";
  const locale = localeOf(tag);
  if (language === "en" && locale) return { ...ENGLISH, locale };
  if (!isOther(language)) return ENGLISH;
  try {
    const messages = await OTHERS[language]();
    const plurals = new Intl.PluralRules(language);
    return { language, locale: locale ?? language, plurals, messages };
  } catch {
    // The chunk could not be loaded. English is better than an empty page.
    return ENGLISH;
  }
}

const isOther = (language: string): language is Other => Object.hasOwn(OTHERS, language);

/** Return the canonical form of a language tag; null if it is invalid. */
function localeOf(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0] ?? null;
  } catch {
    return null;
  }
}

// Django set the language of the page. Modules that import this one wait for it, so their constants
// can contain messages.
if (typeof document !== "undefined") {
  await speak(document.documentElement.lang);
  document.documentElement.lang = spoken.locale;
}
