import type { ModuleType } from "../api/shapes";
import { modulesOf } from "./modules";
import type { Json, JsonObject, Task } from "./types";

export const SUCCESS = "success";
export const ERROR = "error";

/** Return the outcomes of a task that edges can use; `error` comes last. */
export function outcomesOf(task: Task, types: ReadonlyMap<string, ModuleType>): string[] {
  const last = modulesOf(task).at(-1);
  const type = last && types.get(last.use);
  const own = type ? ownOutcomes(type, last.with ?? {}) : [];
  return [...(own.length > 0 ? own : [SUCCESS]), ERROR];
}

/** Return a branch module's outcomes; none for other modules. */
function ownOutcomes(type: ModuleType, config: JsonObject): string[] {
  if (type.type === "flow.switch") return casesOf(config);
  return type.outcomes;
}

/** Return the outcomes of a switch's cases (values, or value → outcome), with the default last. */
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
