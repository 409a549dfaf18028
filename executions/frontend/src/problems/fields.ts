/** What is wrong with the `with` of a task's modules, by their JSON Schemas. */
import { Validator } from "@cfworker/json-schema";
import type { ModuleType } from "../api/shapes";
import { modulesOf } from "../document/modules";
import type { JsonObject, Task } from "../document/types";
import { t } from "../words/t";
import { type Mistake, mistakes } from "./sentences";
import { tolerant } from "./tolerant";

type Types = ReadonlyMap<string, ModuleType>;

const validators = new WeakMap<JsonObject, Validator>();
// A task that did not change is the same object, so most of a document is never looked at again.
let known = new WeakMap<Task, Mistake[]>();
let knownBy: Types | null = null;

/** The mistakes in a task's modules, their places below the task; once a task and its types. */
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
