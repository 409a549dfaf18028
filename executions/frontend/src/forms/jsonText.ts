/** JSON as users type it: a value, or the position and message of the first error. */
import type { Json } from "../document/types";
import { t } from "../words/t";

export type Read =
  | { ok: true; value: Json }
  | { ok: false; line: number; column: number; message: string };

/** Format a value for reading. */
export const written = (value: Json | undefined): string =>
  value === undefined ? "" : JSON.stringify(value, null, 2);

/** Parse a JSON text; an error has its line and column, counted from 1. */
export function readJson(text: string): Read {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch {
    // JavaScript engines report the position differently or not at all, so find it here.
    const { at, message } = firstMistake(text);
    const before = text.slice(0, at).split("\n");
    return {
      ok: false,
      line: before.length,
      column: (before.at(-1) ?? "").length + 1,
      message,
    };
  }
}

class Mistake extends Error {
  constructor(
    readonly at: number,
    readonly said: string,
  ) {
    super(said);
  }
}

function firstMistake(text: string): { at: number; message: string } {
  try {
    const end = skipBlanks(text, skipValue(text, skipBlanks(text, 0)));
    return { at: end, message: t("forms.expectedNothingMoreAfterTheValue") };
  } catch (error) {
    if (error instanceof Mistake) return { at: error.at, message: error.said };
    return { at: 0, message: t("forms.isNestedTooDeeply") };
  }
}

const BLANKS = /[ \t\r\n]*/y;
// JSON strings cannot contain control characters. This pattern also excludes those above 127, which
// JSON allows, because they are rare.
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const WORD = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

const skipBlanks = (text: string, at: number): number => skip(BLANKS, text, at);

function skipValue(text: string, at: number): number {
  const first = text[at];
  if (first === "{") return skipMembers(text, at + 1, "}", skipPair);
  if (first === "[") return skipMembers(text, at + 1, "]", skipValue);
  const end = first === '"' ? skip(STRING, text, at) : skip(WORD, text, at);
  if (end >= 0) return end;
  if (first === undefined) throw new Mistake(at, t("forms.expectedAValueFoundTheEnd"));
  if (first === '"') throw new Mistake(at, t("forms.thisTextIsNotClosed"));
  throw new Mistake(at, t("forms.expectedAValueFound", { found: JSON.stringify(first) }));
}

function skipPair(text: string, at: number): number {
  const key = text[at] === '"' ? skip(STRING, text, at) : -1;
  if (key < 0) throw new Mistake(at, t("forms.expectedAKeyInDoubleQuotes"));
  const colon = skipBlanks(text, key);
  if (text[colon] !== ":") throw new Mistake(colon, t("forms.expectedAfterTheKey"));
  return skipValue(text, skipBlanks(text, colon + 1));
}

function skipMembers(
  text: string,
  from: number,
  close: string,
  member: (text: string, at: number) => number,
): number {
  let at = skipBlanks(text, from);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skipBlanks(text, member(text, at));
    if (text[at] === close) return at + 1;
    if (text[at] !== ",") throw new Mistake(at, t("forms.expectedOr", { close }));
    at = skipBlanks(text, at + 1);
  }
}
