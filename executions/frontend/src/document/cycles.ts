/** Which edges may be drawn, and why others may not. Pure. */
import { t } from "../words/t";
import { sameEdge } from "./edits";
import { SUCCESS } from "./outcomes";
import { bodyAt, bodyOf, idOf } from "./paths";
import type { Definition, Edge, TaskPath } from "./types";

/**
 * Return the ids on a shortest path along the edges, including both ends; null if there is none.
 */
export function wayBetween(edges: readonly Edge[], from: string, to: string): string[] | null {
  const next = new Map<string, string[]>();
  for (const edge of edges) next.set(edge.from, [...(next.get(edge.from) ?? []), edge.to]);
  const before = new Map<string, string | null>([[from, null]]);
  const open = [from];
  for (const id of open) {
    if (id === to) return traced(before, id);
    for (const target of next.get(id) ?? []) {
      if (before.has(target)) continue;
      before.set(target, id);
      open.push(target);
    }
  }
  return null;
}

function traced(before: ReadonlyMap<string, string | null>, end: string): string[] {
  const way = [end];
  for (let id = before.get(end); id; id = before.get(id)) way.unshift(id);
  return way;
}

/** Return the reason why these two tasks cannot be connected; null if they can. */
export function refusalOf(
  document: Definition,
  from: TaskPath,
  to: TaskPath,
  on: string = SUCCESS,
): string | null {
  if (from === to) return t("document.aTaskCannotComeAfterItself");
  const body = bodyOf(from);
  if (body.join(".") !== bodyOf(to).join(".")) {
    return t("document.tasksOfDifferentBodiesCannot");
  }
  const edges = bodyAt(document, body)?.edges ?? [];
  const [source, target] = [idOf(from), idOf(to)];
  if (edges.some((edge) => sameEdge(edge, { from: source, to: target, on }))) {
    return t("document.isConnectedToOnAlready", { source, target, outcome: on });
  }
  const way = wayBetween(edges, target, source);
  return way === null
    ? null
    : t("document.thisWouldBeACircle", { way: [...way, target].join(" → ") });
}
