import type { ModuleType } from "../api/shapes";
import { modulesOf } from "./modules";
import type { Json, JsonObject, Task } from "./types";

export const SUCCESS = "success";
export const ERROR = "error";

/** The outcomes of a task that an edge may wait for, `error` last. */
export function outcomesOf(task: Task, types: ReadonlyMap<string, ModuleType>): string[] {
  const last = modulesOf(task).at(-1);
  const type = last && types.get(last.use);
  const own = type ? ownOutcomes(type, last.with ?? {}) : [];
  return [...(own.length > 0 ? own : [SUCCESS]), ERROR];
}

/** A gate's outcomes; none for a plain module. */
function ownOutcomes(type: ModuleType, config: JsonObject): string[] {
  if (type.type === "flow.switch") return casesOf(config);
  return type.outcomes;
}

/** The outcomes of a switch's cases (a list of values, or value → outcome), its default last. */
function casesOf(config: JsonObject): string[] {
  const cases = config.cases;
  const named =
    cases !== null && typeof cases === "object"
      ? Array.isArray(cases)
        ? cases.map(asText)
        : Object.values(cases).map(asText)
      : [];
  return [...new Set([...named, asText(config.default ?? "default")])];
}

const asText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
