/** Messages of the catalogue with their variables filled in. */
import { spoken } from "./language";
import type { Forms, Given, Key } from "./types";

type Anything = Readonly<Record<string, unknown>>;

/** The text of a message: `t("shared.close")`, `t("shared.problems", { count: 3 })`. */
export const t = <K extends Key>(key: K, ...[values]: Given<K>): string =>
  told(key, values).join("");

/** The message in parts: its texts, and the values in their places. */
export function told(key: Key, values: Anything = {}): unknown[] {
  const message = spoken.messages[key];
  const text = typeof message === "string" ? message : formOf(message, values);
  return text.split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] : part));
}

/** The form for the number; the last one where the translation has none for it. */
function formOf(message: Forms, { count }: Anything): string {
  return message[spoken.plurals.select(Number(count))] ?? message.other;
}
