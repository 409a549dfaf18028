import type { Module, Task } from "./types";

/** The id of the only module of a task written with `use` and `with`. */
export const MAIN = "main";

/** The chain of a task; one module `main` where it is written short. */
export function modulesOf(task: Task): Module[] {
  if (task.modules) return task.modules;
  return task.use === undefined ? [] : [{ id: MAIN, use: task.use, with: task.with ?? {} }];
}

/** The module type that decides a task's outcome: its chain's last. */
export const lastUse = (task: Task): string => modulesOf(task).at(-1)?.use ?? "";

/** The task with this chain, written short where that says the same. */
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

/** The task with one module of its chain changed. */
export function withModule(task: Task, index: number, change: (module: Module) => Module): Task {
  return withModules(
    task,
    modulesOf(task).map((module, at) => (at === index ? change(module) : module)),
  );
}
