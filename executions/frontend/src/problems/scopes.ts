/** Checks that templates read only declared variables, and tasks that ended before. */
import type { ModuleType } from "../api/shapes";
import { modulesOf } from "../document/modules";
import { pathOf } from "../document/paths";
import type { Definition, Json, Task } from "../document/types";
import type { FoundProblem } from "../store/studio";
import { t } from "../words/t";
import { found, type Pointer } from "./found";
import type { Wiring } from "./graph";
import { type Reading, type Templates, templatesOf } from "./templates";

/** A body as a template sees it from one of its tasks; without a task, all tasks have ended. */
export interface View {
  wiring: Wiring;
  task: string | null;
}

// Attributes that are available before the task ends, or belong to earlier iterations, so no order
// is required.
const ANY_TIME = new Set(["history", "callbackUrl"]);
/** Keys whose templates are rendered later, in a larger scope; only the server checks them. */
const LATER = ["until", "while", "filter"];

const known = new WeakMap<Task, Templates>();

/** Return the problems of a task's templates; `views` are innermost first. */
export function taskTemplateProblems(
  task: Task,
  views: readonly View[],
  document: Definition,
  types: ReadonlyMap<string, ModuleType>,
): FoundProblem[] {
  const path = pathOf(views[0]?.wiring.at ?? [], task.id);
  return problemsOf(templatesIn(task), (reading) => mistakeOf(reading, views, document)).flatMap(
    ({ pointer, code, message }) =>
      isLater(task, pointer, types) && code !== "template_syntax"
        ? []
        : [found(path, pointer, code, message)],
  );
}

/** Return the problems of the templates in the workflow's output, when all tasks have ended. */
export function outputProblems(document: Definition, wiring: Wiring): FoundProblem[] {
  const views = [{ wiring, task: null }];
  return problemsOf(templatesOf(document.output ?? null), (reading) =>
    mistakeOf(reading, views, document),
  ).map(({ pointer, code, message }) => found(null, ["output", ...pointer], code, message));
}

type Said = [code: string, message: string];

function problemsOf(
  templates: Templates,
  judge: (reading: Reading) => Said | null,
): { pointer: Pointer; code: string; message: string }[] {
  const unclosed = templates.open.map((pointer) => ({
    pointer,
    code: "template_syntax",
    message: t("problems.isNotClosedExpectedAfter"),
  }));
  const read = templates.readings.flatMap((reading) => {
    const said = judge(reading);
    return said ? [{ pointer: reading.pointer, code: said[0], message: said[1] }] : [];
  });
  return [...unclosed, ...read];
}

/** Return the templates of all its modules, with pointers from the task. */
function templatesIn(task: Task): Templates {
  const before = known.get(task);
  if (before) return before;
  const told = modulesOf(task).map((module, index) => {
    const place = task.modules ? ["modules", index, "with"] : ["with"];
    const { readings, open } = templatesOf((module.with ?? {}) as Json);
    return {
      readings: readings.map((one) => ({ ...one, pointer: [...place, ...one.pointer] })),
      open: open.map((pointer) => [...place, ...pointer]),
    };
  });
  const all = {
    readings: told.flatMap((one) => one.readings),
    open: told.flatMap((one) => one.open),
  };
  known.set(task, all);
  return all;
}

function isLater(task: Task, pointer: Pointer, types: ReadonlyMap<string, ModuleType>): boolean {
  const place = task.modules ? 2 : 0;
  const module = modulesOf(task)[task.modules ? Number(pointer[1]) : 0];
  const key = String(pointer[place + 1]);
  const type = module && types.get(module.use);
  return (type?.deferred ?? LATER).includes(key);
}

function mistakeOf(reading: Reading, views: readonly View[], document: Definition): Said | null {
  const [root, name = "", attribute = ""] = reading.names;
  if (root === "vars") {
    return name in (document.variables ?? {})
      ? null
      : ["unknown_variable", t("problems.theWorkflowDeclaresNoVariableAdd", { name })];
  }
  const view = views.find((one) => one.wiring.index.has(name));
  if (!view) return ["unknown_task", t("problems.thereIsNoTaskThatCan", { name })];
  if (view.task === null || ANY_TIME.has(attribute)) return null;
  return notBefore(name, view.task, view.wiring, view === views[0]);
}

function notBefore(name: string, task: string, wiring: Wiring, own: boolean): Said | null {
  if (name === task) {
    const words = own ? "problems.isTaskItself" : "problems.isTaskAround";
    return ["task_not_before", t(words, { name })];
  }
  if (wiring.stuck.has(wiring.index.get(task) ?? -1) || wiring.isBefore(task, name)) return null;
  return ["task_not_before", t("problems.mayNotBeDone", { name, task })];
}
