/** Types of the messages: their keys, their variables, and the differences of translations. */
import type { en } from "./en";

/** A message with a text for each plural form of the number `count`, as in `Intl.PluralRules`. */
export type Forms = Readonly<{ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Message = string | Forms;

export type English = typeof en;
export type Key = keyof English;

/** The names in braces, such as "a" | "b" for "{a} of {b}"; braces around other text are text. */
type Named<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Exclude<Name, `${string}${" " | "{"}${string}`> | Named<Rest>
  : never;
type Variables<M> = M extends string ? Named<M> : Named<M[keyof M]> | "count";

/** The values of a message; one with plural forms has the number `count`, which selects a form. */
type Values<K extends Key, Value> = {
  [Name in Variables<English[K]>]: English[K] extends string
    ? Value
    : Name extends "count"
      ? number
      : Value;
};

/** The arguments after the key; none if the message has no variables. */
export type Given<K extends Key, Value = string | number> = [Variables<English[K]>] extends [never]
  ? []
  : [values: Values<K, Value>];

/** All messages of a language; messages with plural forms in English have plural forms. */
export type Translation = {
  readonly [K in Key]: English[K] extends string ? string : Forms;
};

/** The keys of messages whose variables differ from the English ones; `never` if none differ. */
export type Differing<T extends Translation> = {
  [K in Key]: [Variables<T[K]>, Variables<English[K]>] extends [
    Variables<English[K]>,
    Variables<T[K]>,
  ]
    ? never
    : K;
}[Key];
