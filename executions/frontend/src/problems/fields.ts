/** Validates the `with` of a task's modules against their JSON Schemas. */
import { Validator } from "@cfworker/json-schema";
import type { ModuleType } from "../api/shapes";
import { modulesOf } from "../document/modules";
import type { JsonObject, Task } from "../document/types";
import { t } from "../words/t";
import { type Mistake, mistakes } from "./sentences";
import { tolerant } from "./tolerant";

type Types = ReadonlyMap<string, ModuleType>;

const validators = new WeakMap<JsonObject, Validator>();
// An unchanged task is the same object, so most tasks of a document are not validated again.
let known = new WeakMap<Task, Mistake[]>();
let knownBy: Types | null = null;

/**
 * Return the problems of a task's modules, with pointers from the task; computed once for each task
 * and set of types.
 */
export function fieldMistakes(task: Task, types: Types): Mistake[] {
  if (types !== knownBy) {
    known = new WeakMap();
    knownBy = types;
  }
  const before = known.get(task);
  if (before) return before;
  const told = modulesOf(task).flatMap((module, index) => {
    const place = task.modules ? ["modules", index] : [];
    return ofModule(module.use, module.with ?? {}, types).map((one) => ({
      ...one,
      pointer: [...place, ...one.pointer],
    }));
  });
  known.set(task, told);
  return told;
}

function ofModule(use: string, config: JsonObject, types: Types): Mistake[] {
  const type = types.get(use);
  if (!type) {
    return [
      { pointer: ["use"], code: "unknown_module", message: t("problems.thereIsNoModule", { use }) },
    ];
  }
  const found = mistakes(validatorOf(type.inputsSchema).validate(config).errors, config);
  return found.map((one) => ({ ...one, pointer: ["with", ...one.pointer] }));
}

function validatorOf(schema: JsonObject): Validator {
  const made =
    validators.get(schema) ?? new Validator(tolerant(schema) as object, "2020-12", false);
  validators.set(schema, made);
  return made;
}
