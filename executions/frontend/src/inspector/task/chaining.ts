/** Changes to a task's chain of modules, and the modules that it and its undo can use. Pure. */

import type { ModuleType } from "../../api/shapes";
import { freeId } from "../../document/ids";
import { MAIN, modulesOf, withModules } from "../../document/modules";
import { startingWith } from "../../document/newtask";
import type { Module, Task } from "../../document/types";
import { offered } from "../../palette/search";

/** Return the types that a chain can contain: those without a body. */
export const chainable = (types: Iterable<ModuleType>): ModuleType[] =>
  offered(types).filter((type) => !type.container);

/** As in the check when publishing: an undo step does not wait and has no branches. */
export const undoing = (types: Iterable<ModuleType>): ModuleType[] =>
  offered(types).filter((type) => !type.container && !type.waits && type.outcomes.length === 0);

/** Add a module of this type at the end. */
export function withAdded(task: Task, type: ModuleType): Task {
  const modules = modulesOf(task);
  const id = freeId(type.type.slice(type.type.lastIndexOf(".") + 1), modules);
  return withModules(task, [
    ...modules,
    { id, use: type.type, with: startingWith(type.inputsSchema) },
  ]);
}

/** Move a module to another position. */
export function withMoved(task: Task, from: number, to: number): Task {
  const modules = [...modulesOf(task)];
  const [moved] = modules.splice(from, 1);
  if (!moved) return task;
  modules.splice(to, 0, moved);
  return withModules(task, modules);
}

/** Remove a module, unless it is the only one; use the short form if one plain module remains. */
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
