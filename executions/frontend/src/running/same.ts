/** Whether two definitions do the same. Positions, notes and notation do not matter. Pure. */
import { read } from "../document/reading";
import type { JsonObject } from "../document/types";

export function sameWork(one: unknown, other: unknown): boolean {
  return workOf(one) === workOf(other);
}

const workOf = (definition: unknown): string =>
  JSON.stringify(plain(read(definition as JsonObject, "")));

/** Parts of a definition that have `ui` and edges of their own; other values are the user's. */
const PARTS = ["tasks", "modules", "body", "undo"];

/** Sort keys and, in a part of the definition, edges; remove the part's `ui` and empty lists. */
function plain(value: unknown, isPart = true): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, isPart));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, item]) => !isPart || !(key === "ui" || (key !== "output" && isEmpty(item))))
    .map(([key, item]): [string, unknown] => [
      key,
      isPart && key === "edges" ? sorted(item) : plain(item, isPart && PARTS.includes(key)),
    ]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function sorted(edges: unknown): unknown {
  if (!Array.isArray(edges)) return edges;
  const texts = edges.map((edge: { from: string; to: string; on?: string }) =>
    JSON.stringify([edge.from, edge.to, edge.on ?? "success"]),
  );
  return texts.sort();
}
