import { everyTask } from "../../document/paths";
import type { Definition, TaskPath } from "../../document/types";

/** Return, for each variable, the tasks whose templates read it or whose steps set it. Pure. */
export function usedBy(document: Definition, names: readonly string[]): Map<string, TaskPath[]> {
  const found = new Map<string, TaskPath[]>(names.map((name) => [name, []]));
  if (names.length === 0) return found;
  for (const { path, task } of everyTask(document)) {
    const { body: _, ui: __, ...own } = task;
    const text = JSON.stringify(own);
    if (!text.includes("vars") && !text.includes("flow.set_variables")) continue;
    for (const name of names) if (reads(text, name)) found.get(name)?.push(path);
  }
  return found;
}

function reads(text: string, name: string): boolean {
  const safe = name.replace(/[^A-Za-z0-9_]/g, "\\$&");
  if (new RegExp(`\\bvars\\.${safe}\\b|\\bvars\\[\\\\?["']${safe}\\\\?["']\\]`).test(text))
    return true;
  return text.includes("flow.set_variables") && text.includes(`"${name}":`);
}
