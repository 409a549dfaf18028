/** What could be written at the cursor, and the text with it written. */
import { atCursor, isClosed } from "./cursor";
import { FILTERS } from "./filters";
import { brief, find, type Name } from "./names";
import { writePath } from "./path";

export interface Option {
  /** What is listed. */
  label: string;
  /** What takes the place of what was typed. */
  insert: string;
  about: string;
  /** The value of the last run on one line; empty where it is not known. */
  seen: string;
  /** Has parts below it: the listing goes on after choosing it. */
  more: boolean;
}

export interface Completion {
  from: number;
  to: number;
  options: Option[];
}

const MOST = 50;

/** The options at a place, those that begin with what was typed first; null where there are none. */
export function complete(text: string, place: number, names: readonly Name[]): Completion | null {
  const at = atCursor(text, place);
  if (!at) return null;
  const options =
    at.is === "filter" ? filterOptions() : namesAt(names, at.steps).map(optionOf(at.steps));
  const found = matching(options, at.partial.toLowerCase());
  // A name that is there in full needs no list.
  const done = found.length === 1 && found[0]?.label === at.partial && !found[0].more;
  return found.length === 0 || done ? null : { from: at.from, to: at.to, options: found };
}

const namesAt = (names: readonly Name[], steps: readonly (string | number)[]): readonly Name[] =>
  steps.length === 0 ? names : (find(names, steps)?.children?.() ?? []);

const optionOf =
  (steps: readonly (string | number)[]) =>
  (name: Name): Option => ({
    label: typeof name.step === "number" ? `[${name.step}]` : name.step,
    insert: writePath([...steps, name.step]),
    about: name.about,
    seen: brief(name.value),
    more: name.children !== undefined,
  });

const filterOptions = (): Option[] =>
  Object.entries(FILTERS).map(([label, about]) => ({
    label,
    insert: label,
    about,
    seen: "",
    more: false,
  }));

function matching(options: readonly Option[], typed: string): Option[] {
  const begins = options.filter((one) => one.label.toLowerCase().startsWith(typed));
  const holds = options.filter(
    (one) => typed !== "" && !begins.includes(one) && one.label.toLowerCase().includes(typed),
  );
  return [...begins, ...holds].slice(0, MOST);
}

export interface Edited {
  text: string;
  /** Where the cursor goes. */
  place: number;
}

/** The text with an option chosen; braces that are open are closed. */
export function chosen(text: string, completion: Completion, option: Option): Edited {
  const head = text.slice(0, completion.from);
  const blank = head.endsWith("{{") ? " " : "";
  const tail = text.slice(completion.to);
  const close = isClosed(text, completion.to) ? "" : " }}";
  const before = head + blank + option.insert;
  return { text: before + close + tail, place: before.length };
}

/** The text with an expression put between `from` and `to`: bare in braces that are there. */
export function inserted(text: string, from: number, to: number, path: string): Edited {
  const within = text.lastIndexOf("{{", from - 1) > text.lastIndexOf("}}", from - 1);
  const piece = within ? path : `{{ ${path} }}`;
  return { text: text.slice(0, from) + piece + text.slice(to), place: from + piece.length };
}

/** The text with empty braces at a place, and the cursor between them. */
export function opened(text: string, place: number): Edited {
  return { text: `${text.slice(0, place)}{{ ${text.slice(place)}`, place: place + 3 };
}
