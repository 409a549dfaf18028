/** Changes of a task's chain of modules. Pure. */

import type { ModuleType } from "../../api/shapes";
import { freeId } from "../../document/ids";
import { MAIN, modulesOf, withModules } from "../../document/modules";
import { startingWith } from "../../document/newtask";
import type { Module, Task } from "../../document/types";

/** With a module of this type behind the others. */
export function withAdded(task: Task, type: ModuleType): Task {
  const modules = modulesOf(task);
  const id = freeId(type.type.slice(type.type.lastIndexOf(".") + 1), modules);
  return withModules(task, [
    ...modules,
    { id, use: type.type, with: startingWith(type.inputsSchema) },
  ]);
}

/** With a module at another place of the chain. */
export function withMoved(task: Task, from: number, to: number): Task {
  const modules = [...modulesOf(task)];
  const [moved] = modules.splice(from, 1);
  if (!moved) return task;
  modules.splice(to, 0, moved);
  return withModules(task, modules);
}

/** Without a module; the last one stays. One that is left alone is written short. */
export function withoutModule(task: Task, at: number): Task {
  const left = modulesOf(task).filter((_, index) => index !== at);
  const [only] = left;
  if (!only) return task;
  return left.length === 1 && isPlain(only)
    ? withModules(task, [{ ...only, id: MAIN }])
    : withModules(task, left);
}

const isPlain = (module: Module): boolean =>
  Object.keys(module).every((key) => ["id", "use", "with"].includes(key));
