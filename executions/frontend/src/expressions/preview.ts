/** What a text with templates would have been in the last run, as far as paths alone tell. */
import type { Json } from "../document/types";
import { known, type Name } from "./names";
import { readPath } from "./path";

const TEMPLATE = /\{\{([\s\S]*?)\}\}/g;

/** Whether a text holds an expression. */
export const holdsTemplate = (text: string): boolean => /\{\{[\s\S]*?\}\}/.test(text);

/** The value; undefined where it is not known, or where a template is more than a path. */
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
