/** Whether a container is collapsed: the document's setting, unless the user toggled it. */
import type { Task, TaskPath } from "../document/types";
import { useStudio } from "../store/studio";

export const isFolded = (toggled: ReadonlySet<TaskPath>, path: TaskPath, task: Task): boolean =>
  (task.ui?.collapsed === true) !== toggled.has(path);

/** Toggle a container. This does not change the document. */
export function toggleFold(path: TaskPath): void {
  const { collapsed, set } = useStudio.getState();
  const toggled = new Set(collapsed);
  if (!toggled.delete(path)) toggled.add(path);
  set({ collapsed: toggled });
}
