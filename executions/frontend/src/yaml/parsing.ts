/** Parses YAML (or JSON) to a document's values, or to errors with positions. Pure. */
import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import type { JsonObject } from "../document/types";
import type { Pointer } from "../problems/found";
import { t } from "../words/t";
import { commentsOf, withComments } from "./comments";
import { shapeMistakes } from "./shape";

/** A position in a text, counted from 1. */
export interface Place {
  line: number;
  column: number;
}

export interface TextMistake extends Place {
  message: string;
}

export type Parsed =
  | { ok: true; document: JsonObject }
  | { ok: false; mistakes: readonly [TextMistake, ...TextMistake[]] };

/** Maximum size of a text, in bytes; the server has the same limit. */
export const LARGEST = 1024 * 1024;
const SHOWN = 20;
const ALIASES = 100;

export function parsed(text: string): Parsed {
  if (new Blob([text]).size > LARGEST) return refused(t("yaml.theTextIsLargerThan1"));
  const lines = new LineCounter();
  const read = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [first, ...others] = read.errors.slice(0, SHOWN).map((error) => ({
    ...placeAt(lines, error.pos[0]),
    message: error.message,
  }));
  if (first) return { ok: false, mistakes: [first, ...others] };
  let value: unknown;
  try {
    value = read.toJS({ maxAliasCount: ALIASES });
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
  const shape = shapeMistakes(value).slice(0, SHOWN);
  const [wrong, ...more] = shape.map(({ pointer, message }) => ({
    ...placeOf(read, lines, pointer),
    message,
  }));
  if (wrong) return { ok: false, mistakes: [wrong, ...more] };
  return { ok: true, document: withComments(value as JsonObject, commentsOf(read)) };
}

/** Return the start of the value at a pointer; null if there is none. */
export function placeIn(text: string, pointer: Pointer): Place | null {
  const lines = new LineCounter();
  const read = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const node = read.getIn(pointer, true);
  return isNode(node) && node.range ? placeAt(lines, node.range[0]) : null;
}

const refused = (message: string): Parsed => ({
  ok: false,
  mistakes: [{ line: 1, column: 1, message }],
});

/** Return the position of a value, or of the nearest enclosing value. */
function placeOf(read: Document, lines: LineCounter, pointer: Pointer): Place {
  for (let length = pointer.length; length >= 0; length -= 1) {
    const node = read.getIn(pointer.slice(0, length), true);
    if (isNode(node) && node.range) return placeAt(lines, node.range[0]);
  }
  return { line: 1, column: 1 };
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}
