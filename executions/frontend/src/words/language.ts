/** The language of the page, and its messages. */
import type { de } from "./de";
import { en } from "./en";
import type { es } from "./es";
import type { Differing, Key, Message, Translation } from "./types";

// The English is part of the bundle. Each other language is a chunk, fetched where a page asks for
// it. A chunk imports nothing: it would wait for the module that waits for it.
const OTHERS = {
  de: async (): Promise<Translation> => (await import("./de")).de,
  es: async (): Promise<Translation> => (await import("./es")).es,
};

/** A compile error here names the messages whose variables are not those of the English. */
type Fitting<Wrong extends never> = Wrong;
export type Checked = Fitting<Differing<typeof de> | Differing<typeof es>>;

type Other = keyof typeof OTHERS;
type Language = "en" | Other;

interface Spoken {
  language: Language;
  /** What dates and numbers are written by: "de-AT" as well as "de". */
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

/** What the page is told in. */
export let spoken = ENGLISH;

/** Tell everything in the language of a tag ("de", "de-AT"); in English where it is not known. */
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
    // The chunk did not arrive. English is better than an empty page.
    return ENGLISH;
  }
}

const isOther = (language: string): language is Other => Object.hasOwn(OTHERS, language);

/** The tag as `Intl` writes it; null where it is none. */
function localeOf(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll("_", "-"))[0] ?? null;
  } catch {
    return null;
  }
}

// Django wrote the language of the page. Modules that import this one wait here, so that constants
// may hold texts.
if (typeof document !== "undefined") {
  await speak(document.documentElement.lang);
  document.documentElement.lang = spoken.locale;
}
