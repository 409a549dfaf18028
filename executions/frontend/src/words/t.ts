/** Messages of the catalogue, with their variables filled in. */
import { spoken } from "./language";
import type { Forms, Given, Key } from "./types";

type Anything = Readonly<Record<string, unknown>>;

/** Return the text of a message: `t("shared.close")`, `t("shared.problems", { count: 3 })`. */
export const t = <K extends Key>(key: K, ...[values]: Given<K>): string =>
  told(key, values).join("");

/** Return the parts of a message: its texts, and the values between them. */
export function told(key: Key, values: Anything = {}): unknown[] {
  const message = spoken.messages[key];
  const text = typeof message === "string" ? message : formOf(message, values);
  return text.split(/\{(\w+)\}/).map((part, at) => (at % 2 ? values[part] : part));
}

/** Return the plural form for the number; the form `other` if the translation does not have it. */
function formOf(message: Forms, { count }: Anything): string {
  return message[spoken.plurals.select(Number(count))] ?? message.other;
}
