/** Completion of names and filters at the cursor. */
import { atCursor, isClosed } from "./cursor";
import { FILTERS } from "./filters";
import { brief, find, type Name } from "./names";
import { writePath } from "./path";

export interface Option {
  /** The text in the list. */
  label: string;
  /** The text that replaces the typed part. */
  insert: string;
  about: string;
  /** The value in the displayed execution, on one line; "" if it is unknown. */
  seen: string;
  /** Whether the value has parts: after it is chosen, the list shows them. */
  more: boolean;
}

export interface Completion {
  from: number;
  to: number;
  options: Option[];
}

const MOST = 50;

/** Return the options at a position, matching prefixes first; null if there are none. */
export function complete(text: string, place: number, names: readonly Name[]): Completion | null {
  const at = atCursor(text, place);
  if (!at) return null;
  const options =
    at.is === "filter" ? filterOptions() : namesAt(names, at.steps).map(optionOf(at.steps));
  const found = matching(options, at.partial.toLowerCase());
  // A completely typed name needs no list.
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
  /** The new position of the cursor. */
  place: number;
}

/** Insert the chosen option; open braces are closed. */
export function chosen(text: string, completion: Completion, option: Option): Edited {
  const head = text.slice(0, completion.from);
  const blank = head.endsWith("{{") ? " " : "";
  const tail = text.slice(completion.to);
  const close = isClosed(text, completion.to) ? "" : " }}";
  const before = head + blank + option.insert;
  return { text: before + close + tail, place: before.length };
}

/** Replace the text from `from` to `to` by an expression; inside braces, without new ones. */
export function inserted(text: string, from: number, to: number, path: string): Edited {
  const within = text.lastIndexOf("{{", from - 1) > text.lastIndexOf("}}", from - 1);
  const piece = within ? path : `{{ ${path} }}`;
  return { text: text.slice(0, from) + piece + text.slice(to), place: from + piece.length };
}

/** Insert opening braces at a position; the cursor follows them. */
export function opened(text: string, place: number): Edited {
  return { text: `${text.slice(0, place)}{{ ${text.slice(place)}`, place: place + 3 };
}
