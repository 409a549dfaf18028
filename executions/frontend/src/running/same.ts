/** Whether two definitions do the same. Positions, notes and notation do not matter. Pure. */
import { read } from "../document/reading";
import type { JsonObject } from "../document/types";

export function sameWork(one: unknown, other: unknown): boolean {
  return workOf(one) === workOf(other);
}

const workOf = (definition: unknown): string =>
  JSON.stringify(plain(read(definition as JsonObject, "")));

/** Sort keys and edges, and remove `ui` and empty lists. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, item]) => key !== "ui" && !(Array.isArray(item) && item.length === 0))
    .map(([key, item]): [string, unknown] => [key, key === "edges" ? sorted(item) : plain(item)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sorted(edges: unknown): unknown {
  if (!Array.isArray(edges)) return edges;
  const texts = edges.map((edge: { from: string; to: string; on?: string }) =>
    JSON.stringify([edge.from, edge.to, edge.on ?? "success"]),
  );
  return texts.sort();
}
