/** The minimum structure that the studio needs to show a value as a workflow. Pure. */
import type { Pointer } from "../problems/found";
import { t } from "../words/t";

export interface ShapeMistake {
  pointer: Pointer;
  message: string;
}

/** Return the errors in this structure; the list of problems shows all other problems. */
export function shapeMistakes(value: unknown): ShapeMistake[] {
  if (!isMap(value)) return [{ pointer: [], message: t("yaml.aDefinitionIsAnObject") }];
  const found: ShapeMistake[] = [];
  if (value.name !== undefined && typeof value.name !== "string") {
    found.push({ pointer: ["name"], message: t("yaml.theNameIsAText") });
  }
  for (const key of ["input", "variables", "settings", "labels"]) object(value, key, [], found);
  each(value, "triggers", [], found, (trigger, at) => text(trigger, "type", at, found));
  body(value, [], found);
  return found;
}

type Values = Record<string, unknown>;

function body(value: Values, at: Pointer, found: ShapeMistake[]): void {
  object(value, "ui", at, found);
  each(value, "tasks", at, found, (task, place) => {
    text(task, "id", place, found);
    for (const key of ["use", "name"]) if (task[key] !== undefined) text(task, key, place, found);
    for (const key of ["with", "ui", "body"]) object(task, key, place, found);
    each(task, "modules", place, found, (module, where) => {
      for (const key of ["id", "use"]) text(module, key, where, found);
      object(module, "with", where, found);
    });
    if (isMap(task.body)) body(task.body, [...place, "body"], found);
  });
  each(value, "edges", at, found, (edge, place) => {
    for (const key of ["from", "to"]) text(edge, key, place, found);
  });
}

/** Call `look` for each object of a list, if the key exists. */
function each(
  value: Values,
  key: string,
  at: Pointer,
  found: ShapeMistake[],
  look: (item: Values, place: Pointer) => void,
): void {
  const list = value[key];
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) {
    found.push({ pointer: [...at, key], message: t("yaml.isAList", { key }) });
    return;
  }
  list.forEach((item: unknown, index) => {
    const place = [...at, key, index];
    if (isMap(item)) look(item, place);
    else found.push({ pointer: place, message: t("yaml.expectedAnObjectWithKeysHere") });
  });
}

function text(value: Values, key: string, at: Pointer, found: ShapeMistake[]): void {
  const is = value[key];
  if (typeof is === "string" && is !== "") return;
  const message = is === undefined ? t("yaml.isRequired", { key }) : t("yaml.isAText", { key });
  found.push({ pointer: is === undefined ? at : [...at, key], message });
}

function object(value: Values, key: string, at: Pointer, found: ShapeMistake[]): void {
  if (value[key] === undefined || isMap(value[key])) return;
  found.push({ pointer: [...at, key], message: t("yaml.isAnObjectWithKeys", { key }) });
}

const isMap = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
