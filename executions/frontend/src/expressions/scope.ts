/** The names that templates of a place can use, with values of the displayed execution. */
import type { ModuleType } from "../api/shapes";
import { lastUse, modulesOf } from "../document/modules";
import { outcomesOf } from "../document/outcomes";
import { bodyOf, taskAt } from "../document/paths";
import type { Definition, Json, JsonObject, Task, TaskPath } from "../document/types";
import { t } from "../words/t";
import { type Name, nameOf } from "./names";
import { type Readable, readable, within } from "./upstream";

/** The result of a task in the displayed execution. */
export interface SeenTask {
  outputs: Json;
  outcome: string | null;
  error: string | null;
}

/** Data of the displayed execution; `of` returns undefined for a task that did not run. */
export interface Seen {
  payload?: Json | undefined;
  variables?: Json | undefined;
  executionId?: string | undefined;
  of(path: TaskPath): SeenTask | undefined;
}

/** A credential's name and type, and the names of its fields. */
export interface Secret {
  name: string;
  type: string;
  fields: readonly string[];
}

export interface Surroundings {
  document: Definition;
  types: ReadonlyMap<string, ModuleType>;
  seen: Seen;
  secrets: readonly Secret[];
}

/** The place of a template: a module of a task, or, without a task, the workflow itself. */
export interface Place {
  path: TaskPath | null;
  module?: number;
  /** Whether the template is in the task's undo step, which can also read the task's result. */
  undo?: boolean;
}

/** Return all names, the most used first. */
export function namesFor(around: Surroundings, place: Place): Name[] {
  const { document, seen } = around;
  const task = place.path === null ? undefined : taskAt(document, place.path);
  return [
    nameOf("input", t("expressions.thePayload"), seen.payload, document.input ?? {}),
    {
      step: "vars",
      about: t("expressions.variables"),
      children: () => variables(document, seen),
    },
    {
      step: "tasks",
      about: t("expressions.earlierTasks"),
      children: () => tasks(around, place, task),
    },
    ...previous(around, task, place.module ?? 0),
    ...turns(around, place.path, task),
    ...event(task),
    {
      step: "execution",
      about: t("expressions.thisExecution"),
      children: () => execution(document, seen),
    },
    ...secrets(around, task, place.module ?? 0),
  ];
}

function variables(document: Definition, seen: Seen): Name[] {
  const last = isObject(seen.variables) ? seen.variables : {};
  return Object.entries(document.variables ?? {}).map(([name, value]) =>
    nameOf(name, t("expressions.variable"), last[name] ?? value),
  );
}

function tasks(around: Surroundings, { path, undo }: Place, task: Task | undefined): Name[] {
  const { document } = around;
  const own = undo && path !== null && task ? [{ path, task }] : [];
  const all =
    path === null
      ? document.tasks.map((one) => ({ path: one.id, task: one }))
      : [...own, ...(task?.body ? within(task, path) : []), ...readable(document, path)];
  return all.map((one) => ({
    step: one.task.id,
    about: one.task.name ?? around.types.get(lastUse(one.task))?.title ?? lastUse(one.task),
    children: () => results(around, one),
  }));
}

function results(around: Surroundings, { path, task }: Readable): Name[] {
  const seen = around.seen.of(path);
  const type = around.types.get(lastUse(task));
  const outcomes = outcomesOf(task, around.types).join(", ");
  const schema = type?.outputsSchema ?? null;
  const found = [
    nameOf("output", t("expressions.whatItGave"), seen?.outputs, schema && inlined(schema)),
    nameOf("outcome", outcomes, seen?.outcome ?? undefined),
    nameOf("error", t("expressions.whyItFailed"), seen?.error || undefined),
  ];
  if (path.includes("."))
    found.push({ step: "history", about: t("expressions.outputsOfEarlierTurns") });
  if (type?.type === "flow.callback")
    found.push({ step: "callbackUrl", about: t("expressions.itsAddress") });
  return found;
}

function previous(around: Surroundings, task: Task | undefined, module: number): Name[] {
  const before = task && module > 0 ? modulesOf(task)[module - 1] : undefined;
  if (!before) return [];
  const schema = around.types.get(before.use)?.outputsSchema ?? null;
  const about = t("expressions.whatGave", { task: before.id });
  return [nameOf("previous", about, undefined, schema && inlined(schema))];
}

/** Containers that run their bodies for items: list items, or tool calls of an agent's model. */
const HAVE_ITEMS = ["flow.map", "llm.agent"];

/**
 * Return `loop`, `item` and `index` of the containers around; a loop's condition has `loop`, too.
 */
function turns(around: Surroundings, path: TaskPath | null, task: Task | undefined): Name[] {
  if (path === null) return [];
  const ids = bodyOf(path);
  const holders = ids.map((_, at) => taskAt(around.document, ids.slice(0, at + 1).join(".")));
  const uses = [...holders, task?.body ? task : undefined].map((one) => one && lastUse(one));
  const loop = uses.includes("flow.loop");
  const map = holders.some((one) => one && HAVE_ITEMS.includes(lastUse(one)));
  return [
    ...(loop ? [{ step: "loop", about: t("expressions.theTurn"), children: loopNames }] : []),
    ...(map ? [nameOf("item", t("expressions.theItemOfThisTurn"), undefined)] : []),
    ...(map ? [nameOf("index", t("expressions.itsNumberFrom0"), undefined)] : []),
  ];
}

const loopNames = (): Name[] => [
  { step: "index", about: t("expressions.theTurnFrom0") },
  { step: "iteration", about: t("expressions.theTurnFrom1") },
  { step: "previous", about: t("expressions.whatTheTurnBeforeCame") },
];

const event = (task: Task | undefined): Name[] =>
  task && lastUse(task) === "flow.wait_for_event"
    ? [{ step: "event", about: t("expressions.theEventsPayloadInFilters") }]
    : [];

const execution = (document: Definition, seen: Seen): Name[] => [
  nameOf("id", t("expressions.itsUuid"), seen.executionId),
  { step: "startedAt", about: t("expressions.whenItBeganTheOnlyClock") },
  { step: "attempt", about: t("expressions.howOftenThisStepWasTried") },
  nameOf("workflow", t("document.theWorkflow"), document.name),
];

/** Return `secrets` with the credentials, if the module accepts them. */
function secrets(around: Surroundings, task: Task | undefined, module: number): Name[] {
  const use = task && modulesOf(task)[module]?.use;
  if (use === undefined || !around.types.get(use)?.takesSecrets) return [];
  const children = (): Name[] => around.secrets.map(secret);
  return [{ step: "secrets", about: t("expressions.credentialsOfTheWorkspace"), children }];
}

function secret({ name, type, fields }: Secret): Name {
  const below = fields.map((field) => ({ step: field, about: t("expressions.field") }));
  return { step: name, about: type, children: type === "secret" ? undefined : () => below };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Resolve the references of a schema's properties, so that their names can be listed. */
function inlined(schema: JsonObject): JsonObject {
  const root = schema;
  const into = (one: Json, depth: number): Json => {
    if (!isObject(one) || depth > 6) return one;
    const name = typeof one.$ref === "string" ? one.$ref.replace("#/$defs/", "") : "";
    const found = isObject(root.$defs) ? root.$defs[name] : undefined;
    const plain = isObject(found) ? { ...found, ...one } : one;
    const properties = isObject(plain.properties) ? plain.properties : {};
    const inner = Object.entries(properties).map(([key, part]) => [key, into(part, depth + 1)]);
    return { ...plain, properties: Object.fromEntries(inner) };
  };
  return into(schema, 0) as JsonObject;
}
