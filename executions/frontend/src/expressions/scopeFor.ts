/** The data that a template reads, from what was seen of them: to evaluate it as a step would. Pure. */
import type { Json, JsonObject } from "../document/types";
import { find, type Name } from "./names";
import { readPath, type Step } from "./path";

const EXPRESSION = /\{\{([\s\S]*?)\}\}/g;
// A text in quotes, or a name with the steps behind it, which may hold such texts.
const TOKEN =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<![\w.])[A-Za-z_]\w*(?:\.\w+|\[(?:"[^"]*"|'[^']*'|\d+)\])*/g;

/** The paths that the expressions of a text read, those of names alone. */
export function pathsIn(text: string, names: readonly Name[]): Step[][] {
  const roots = new Set<Step>(names.map((one) => one.step));
  const bodies = [...text.matchAll(EXPRESSION)].map(([, body]) => body ?? "");
  return bodies
    .flatMap((body) => body.match(TOKEN) ?? [])
    .map(readPath)
    .filter((steps): steps is Step[] => steps !== null && roots.has(steps[0] ?? ""));
}

/**
 * What the text reads, as the evaluator takes it; null where something of it was not seen: a task
 * that did not run, the item of a map.
 */
export function scopeFor(text: string, names: readonly Name[]): JsonObject | null {
  const scope: JsonObject = {};
  for (const path of pathsIn(text, names)) {
    if (path[0] === "secrets" || !isSeen(names, path)) return null;
    const [root = "", child] = path;
    // Of many tasks those alone that are read, of anything else the whole.
    const depth = root === "tasks" && child !== undefined ? 2 : 1;
    const name = find(names, path.slice(0, depth));
    const value = name && seenAt(name);
    if (value === undefined) return null;
    if (depth === 1) scope[String(root)] = value;
    else
      scope.tasks = { ...(scope.tasks as JsonObject | undefined), [String(child)]: settled(value) };
  }
  return scope;
}

/** Whether a value was seen at the end of a path, or as far as names go along it. */
function isSeen(names: readonly Name[], path: readonly Step[]): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const name = find(names, path.slice(0, length));
    if (name) return seenAt(name) !== undefined;
  }
  return false;
}

/** A name's value, or those of its parts; undefined where none is known. */
function seenAt(name: Name): Json | undefined {
  if (name.value !== undefined) return name.value;
  const parts = (name.children?.() ?? []).flatMap((one): [string, Json][] => {
    const value = seenAt(one);
    return value === undefined ? [] : [[String(one.step), value]];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

/** A task that ran has every key that a result has. */
const settled = (value: Json): Json => ({
  output: null,
  outcome: "",
  error: null,
  history: [],
  ...(value as JsonObject),
});
