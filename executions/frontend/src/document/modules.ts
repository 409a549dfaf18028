import type { Module, Task } from "./types";

/** The module id of a task that is written with `use` and `with`. */
export const MAIN = "main";

/** Return the modules of a task; a task with `use` has one module, `main`. */
export function modulesOf(task: Task): Module[] {
  if (task.modules) return task.modules;
  return task.use === undefined ? [] : [{ id: MAIN, use: task.use, with: task.with ?? {} }];
}

/** Return the type of a task's last module, which decides the outcome. */
export const lastUse = (task: Task): string => modulesOf(task).at(-1)?.use ?? "";

/** Set the modules of a task, with the short form `use` and `with` if it says the same. */
export function withModules(task: Task, modules: Module[]): Task {
  const { use: _use, with: _with, modules: _modules, ...rest } = task;
  const [only] = modules;
  if (modules.length === 1 && only && isPlain(only)) {
    return { ...rest, use: only.use, with: only.with ?? {} };
  }
  return { ...rest, modules };
}

const isPlain = (module: Module): boolean =>
  module.id === MAIN && Object.keys(module).every((key) => ["id", "use", "with"].includes(key));

/** Change one module of a task. */
export function withModule(task: Task, index: number, change: (module: Module) => Module): Task {
  return withModules(
    task,
    modulesOf(task).map((module, at) => (at === index ? change(module) : module)),
  );
}
