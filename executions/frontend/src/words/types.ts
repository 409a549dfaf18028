/** What TypeScript knows of the messages: their keys, their variables, and what a translation lacks. */
import type { en } from "./en";

/** A message by the number `count`, one text for each form that `Intl.PluralRules` tells apart. */
export type Forms = Readonly<{ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Message = string | Forms;

export type English = typeof en;
export type Key = keyof English;

/** The names in braces: "a" | "b" of "{a} of {b}". Braces around anything else are text. */
type Named<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Exclude<Name, `${string}${" " | "{"}${string}`> | Named<Rest>
  : never;
type Variables<M> = M extends string ? Named<M> : Named<M[keyof M]> | "count";

/** What a message is told with; where it has forms, a number as `count`, which chooses one. */
type Values<K extends Key, Value> = {
  [Name in Variables<English[K]>]: English[K] extends string
    ? Value
    : Name extends "count"
      ? number
      : Value;
};

/** The arguments after the key: none where the message has no variables. */
export type Given<K extends Key, Value = string | number> = [Variables<English[K]>] extends [never]
  ? []
  : [values: Values<K, Value>];

/** Every message of the English, with forms where the English has forms. */
export type Translation = {
  readonly [K in Key]: English[K] extends string ? string : Forms;
};

/** The keys of messages whose variables are not those of the English; never, where all fit. */
export type Differing<T extends Translation> = {
  [K in Key]: [Variables<T[K]>, Variables<English[K]>] extends [
    Variables<English[K]>,
    Variables<T[K]>,
  ]
    ? never
    : K;
}[Key];
