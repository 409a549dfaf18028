/** Paths as templates write them: `tasks["my-task"].output.rows[0]`. */
import type { Json } from "../document/types";

export type Step = string | number;

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const STEP = /\s*(?:\.\s*([A-Za-z_][A-Za-z0-9_]*|\d+)|\[\s*(?:"([^"]*)"|'([^']*)'|(\d+))\s*\])/y;
const ROOT = /\s*([A-Za-z_][A-Za-z0-9_]*)/y;

/**
 * Split a path into its keys and indexes, the name first; return null if the text is not a path.
 */
export function readPath(text: string): Step[] | null {
  ROOT.lastIndex = 0;
  const root = ROOT.exec(text);
  if (!root?.[1]) return null;
  const steps: Step[] = [root[1]];
  let at = ROOT.lastIndex;
  while (text.slice(at).trim() !== "") {
    STEP.lastIndex = at;
    const found = STEP.exec(text);
    if (!found) return null;
    at = STEP.lastIndex;
    const [, name, double, single, index] = found;
    if (index !== undefined) steps.push(Number(index));
    else if (name !== undefined && /^\d+$/.test(name)) steps.push(Number(name));
    else steps.push(name ?? double ?? single ?? "");
  }
  return steps;
}

/** Write a path as templates do. */
export const writePath = (steps: readonly Step[]): string =>
  steps.map((step, at) => (at === 0 ? String(step) : writeStep(step))).join("");

/** Write one key or index of a path: `.rows`, `["my-task"]`, `[0]`. */
export function writeStep(step: Step): string {
  if (typeof step === "number") return `[${step}]`;
  return IDENTIFIER.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/** Return the part of a value at a path; undefined if there is none. */
export function follow(value: Json | undefined, steps: readonly Step[]): Json | undefined {
  let found = value;
  for (const step of steps) {
    if (found === null || typeof found !== "object") return undefined;
    if (!Object.hasOwn(found, step)) return undefined;
    found = (found as { [key: string | number]: Json })[step];
  }
  return found;
}
