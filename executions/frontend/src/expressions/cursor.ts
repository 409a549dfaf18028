/** Finds what can be completed at the cursor in a text with templates. */
import type { Step } from "./path";

/** `from` is the start of the path or filter name, which the chosen option replaces. */
export type AtCursor =
  | { is: "name"; from: number; to: number; steps: Step[]; partial: string }
  | { is: "filter"; from: number; to: number; partial: string };

/** Return the bounds of the expression around a position, without braces; null outside of any. */
export function expressionAt(text: string, place: number): { from: number; to: number } | null {
  const open = text.lastIndexOf("{{", place - 1);
  if (open < 0 || open + 2 > place) return null;
  const closed = text.indexOf("}}", open + 2);
  if (closed >= 0 && closed < place) return null;
  const next = text.indexOf("{{", open + 2);
  const ends = closed >= 0 && (next < 0 || closed < next) ? closed : place;
  return { from: open + 2, to: ends };
}

/** Whether the braces around a position are closed. */
export function isClosed(text: string, place: number): boolean {
  const closed = text.indexOf("}}", place);
  const next = text.indexOf("{{", place);
  return closed >= 0 && (next < 0 || closed < next);
}

const FILTER = /\|\s*([A-Za-z_]*)$/;
const PATH =
  /(?:^|[^A-Za-z0-9_.\])"'])((?:[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+|\[(?:"[^"]*"|'[^']*'|\d+)\])*)?)(\.[A-Za-z0-9_-]*|\["?[^"\]]*|)$/;
const PIECE = /([A-Za-z0-9_-]+)|\["([^"]*)"\]|\['([^']*)'\]|\[(\d+)\]/g;

/**
 * Return what can be completed at a position; null inside quotes, or if no name is possible there.
 */
export function atCursor(text: string, place: number): AtCursor | null {
  const around = expressionAt(text, place);
  if (!around) return null;
  const before = text.slice(around.from, place);
  const filter = FILTER.exec(before);
  if (filter) {
    const partial = filter[1] ?? "";
    return { is: "filter", from: place - partial.length, to: place, partial };
  }
  const found = PATH.exec(before);
  if (!found || (inQuotes(before) && !found[2]?.startsWith("["))) return null;
  const [, head = "", tail = ""] = found;
  const from = place - head.length - tail.length;
  const steps = pieces(head);
  if (tail !== "") {
    if (head === "") return null;
    return { is: "name", from, to: place, steps, partial: tail.replace(/^\.|^\["?/, "") };
  }
  const last = steps.pop();
  return { is: "name", from, to: place, steps, partial: last === undefined ? "" : String(last) };
}

function pieces(path: string): Step[] {
  return [...path.matchAll(PIECE)].map(([, name, double, single, index]) =>
    index !== undefined ? Number(index) : (name ?? double ?? single ?? ""),
  );
}

function inQuotes(before: string): boolean {
  let open = "";
  for (const sign of before) {
    if (open === "") open = sign === '"' || sign === "'" ? sign : "";
    else if (sign === open) open = "";
  }
  return open !== "";
}
