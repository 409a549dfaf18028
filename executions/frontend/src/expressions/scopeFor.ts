/** Collects the data that a template reads, for an evaluation by the server as in a step. Pure. */
import type { Json, JsonObject } from "../document/types";
import { find, type Name } from "./names";
import { readPath, type Step } from "./path";

const EXPRESSION = /\{\{([\s\S]*?)\}\}/g;
// A quoted text, or a name with its keys and indexes, which may contain quoted texts.
const TOKEN =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<![\w.])[A-Za-z_]\w*(?:\.\w+|\[(?:"[^"]*"|'[^']*'|\d+)\])*/g;

/** Return the paths that the expressions of a text read, if they start with a known name. */
export function pathsIn(text: string, names: readonly Name[]): Step[][] {
  const roots = new Set<Step>(names.map((one) => one.step));
  const bodies = [...text.matchAll(EXPRESSION)].map(([, body]) => body ?? "");
  return bodies
    .flatMap((body) => body.match(TOKEN) ?? [])
    .map(readPath)
    .filter((steps): steps is Step[] => steps !== null && roots.has(steps[0] ?? ""));
}

/**
 * Return the scope for evaluating the text; null if a value is unknown, such as the result of a
 * task that did not run, or the item of a map.
 */
export function scopeFor(text: string, names: readonly Name[]): JsonObject | null {
  const scope: JsonObject = {};
  for (const path of pathsIn(text, names)) {
    if (path[0] === "secrets" || !isSeen(names, path)) return null;
    const [root = "", child] = path;
    // Include only the tasks that are read, but other names as a whole.
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

/** Whether the value at a path is known; below the last name, the value itself decides. */
function isSeen(names: readonly Name[], path: readonly Step[]): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const name = find(names, path.slice(0, length));
    if (name) return seenAt(name) !== undefined;
  }
  return false;
}

/** Return a name's value, or an object with its children's values; undefined if none is known. */
function seenAt(name: Name): Json | undefined {
  if (name.value !== undefined) return name.value;
  const parts = (name.children?.() ?? []).flatMap((one): [string, Json][] => {
    const value = seenAt(one);
    return value === undefined ? [] : [[String(one.step), value]];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

/** A task that ran has all keys of a result. */
const settled = (value: Json): Json => ({
  output: null,
  outcome: "",
  error: null,
  history: [],
  ...(value as JsonObject),
});
