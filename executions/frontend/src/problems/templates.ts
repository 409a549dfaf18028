/** Finds what the templates of a value read, without parsing Jinja completely. */
import type { Json } from "../document/types";
import type { Pointer } from "./found";

/** For `tasks.fetch.output` in the text at `pointer`: `["tasks", "fetch", "output"]`. */
export interface Reading {
  pointer: Pointer;
  names: readonly string[];
}

export interface Templates {
  readings: readonly Reading[];
  /** Pointers to texts with an unclosed `{{`. */
  open: readonly Pointer[];
}

const EXPRESSION = /\{\{([\s\S]*?)\}\}/g;
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
const NAME = "[A-Za-z_][A-Za-z0-9_]*";
const READ = new RegExp(
  String.raw`(?<![\w.\]])(tasks|vars)(?:\.(${NAME})|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])(?:\.(${NAME}))?`,
  "g",
);

/** Return everything that the templates in a value read of tasks and variables. */
export function templatesOf(value: Json): Templates {
  const readings: Reading[] = [];
  const open: Pointer[] = [];
  const walk = (within: Json, pointer: Pointer): void => {
    if (typeof within === "string") {
      if (!within.includes("{{")) return;
      if (isOpen(within)) open.push(pointer);
      for (const names of readIn(within)) readings.push({ pointer, names });
    } else if (Array.isArray(within)) {
      for (const [at, item] of within.entries()) walk(item, [...pointer, at]);
    } else if (within !== null && typeof within === "object") {
      for (const [key, item] of Object.entries(within)) walk(item, [...pointer, key]);
    }
  };
  walk(value, []);
  return { readings, open };
}

function* readIn(text: string): Generator<string[]> {
  for (const [, expression] of text.matchAll(EXPRESSION)) {
    const inTexts = textsIn(expression ?? "");
    for (const match of (expression ?? "").matchAll(READ)) {
      if (inTexts.some(([from, to]) => match.index >= from && match.index < to)) continue;
      const [, root, dotted, double, single, attribute] = match;
      const name = dotted ?? double ?? single ?? "";
      yield [root ?? "", name, ...(attribute === undefined ? [] : [attribute])];
    }
  }
}

const textsIn = (expression: string): [from: number, to: number][] =>
  [...expression.matchAll(QUOTED)].map((match) => [match.index, match.index + match[0].length]);

/** Whether the last `{{` is not followed by `}}`. */
const isOpen = (text: string): boolean => text.lastIndexOf("{{") > text.lastIndexOf("}}");
