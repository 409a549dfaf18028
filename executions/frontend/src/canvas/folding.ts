/** Which containers are shown without their bodies: as the document says, unless toggled since. */
import type { Task, TaskPath } from "../document/types";
import { useStudio } from "../store/studio";

export const isFolded = (toggled: ReadonlySet<TaskPath>, path: TaskPath, task: Task): boolean =>
  (task.ui?.collapsed === true) !== toggled.has(path);

/** Fold an opened container, open a folded one. Looking is no change of the document. */
export function toggleFold(path: TaskPath): void {
  const { collapsed, set } = useStudio.getState();
  const toggled = new Set(collapsed);
  if (!toggled.delete(path)) toggled.add(path);
  set({ collapsed: toggled });
}
