/** Names and descriptions of tasks and edges. */
import { modulesOf } from "../document/modules";
import { SUCCESS } from "../document/outcomes";
import type { Types } from "../document/sizes";
import type { Edge, Json, Task } from "../document/types";
import type { TaskLive } from "../live/live";
import { t } from "../words/t";
import type { Count } from "./counts";

export const nameOf = (task: Task): string => task.name || task.id;

/** Return the line below the name: the module type, or the number of modules in the chain. */
export function typeLine(task: Task): string {
  const modules = modulesOf(task);
  const [only] = modules;
  if (modules.length > 1) return t("canvas.modules", { count: modules.length });
  return only?.use || t("canvas.noModule");
}

/** Return the first module that is not installed, or null. */
export function unknownUse(task: Task, types: Types): string | null {
  if (types.size === 0) return null;
  const missing = modulesOf(task).find((module) => !types.has(module.use));
  return missing ? missing.use || t("canvas.none") : null;
}

/** Describe the iterations of a container: `until …`, `iterations: 3`, `each of …`. */
export function repeats(task: Task): string {
  const config = task.with ?? {};
  if (config.items !== undefined) return t("canvas.eachOf", { items: short(config.items) });
  if (config.count !== undefined) return t("canvas.times", { count: short(config.count) });
  if (config.until !== undefined) return t("canvas.until", { condition: short(config.until) });
  if (config.while !== undefined) return t("canvas.while", { condition: short(config.while) });
  return typeLine(task);
}

const short = (value: Json): string => {
  if (Array.isArray(value)) return t("canvas.items", { count: value.length });
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/^\s*\{\{\s*|\s*\}\}\s*$/g, "");
};

/** For example "Fetch order, http.request, 1 problem, succeeded". */
export function accessibleName(
  task: Task,
  types: Types,
  { errors, warnings }: Count,
  live: TaskLive | undefined,
): string {
  const unknown = unknownUse(task, types);
  return [
    nameOf(task),
    unknown === null ? typeLine(task) : t("canvas.unknownModule", { module: unknown }),
    errors > 0 ? t("canvas.problems", { count: errors }) : "",
    warnings > 0 ? t("canvas.warnings", { count: warnings }) : "",
    live?.word ?? "",
  ]
    .filter(Boolean)
    .join(", ");
}

export const lineName = (edge: Edge): string =>
  t("canvas.connectionFrom", { from: edge.from, to: edge.to, outcome: edge.on ?? SUCCESS });
