/** Previews a text whose templates contain only paths, with data of the displayed execution. */
import type { Json } from "../document/types";
import { known, type Name } from "./names";
import { readPath } from "./path";

const TEMPLATE = /\{\{([\s\S]*?)\}\}/g;

/** Whether a text contains an expression. */
export const holdsTemplate = (text: string): boolean => /\{\{[\s\S]*?\}\}/.test(text);

/** Return the value; undefined if it is unknown, or if an expression is not only a path. */
export function preview(text: string, names: readonly Name[]): Json | undefined {
  const whole = /^\s*\{\{([\s\S]*?)\}\}\s*$/.exec(text);
  if (whole && !(whole[1] ?? "").includes("{{")) return seenOf(whole[1] ?? "", names);
  let missing = false;
  const filled = text.replace(TEMPLATE, (_, expression: string) => {
    const value = seenOf(expression, names);
    if (value === undefined) missing = true;
    return typeof value === "string" ? value : JSON.stringify(value ?? null);
  });
  return missing ? undefined : filled;
}

function seenOf(expression: string, names: readonly Name[]): Json | undefined {
  const steps = readPath(expression);
  return steps === null || steps[0] === "secrets" ? undefined : known(names, steps);
}
