/** Links to a task: they open the workflow with the task selected and centred on the canvas. */
import { taskAt } from "../document/paths";
import type { TaskPath } from "../document/types";
import { useLiveStore } from "../live/live";
import { NARROW, open } from "../shell/drawers";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { notice } from "./notice";
import { centre } from "./viewport";

/** Return the task's link, with the watched execution, if any, so that it shows the same states. */
export function taskLink(path: TaskPath): string {
  const { page, workflow } = useStudio.getState();
  const { watched } = useLiveStore.getState();
  const address = new URL(`${page.home}${workflow?.id ?? ""}/`, location.origin);
  if (watched !== null) address.searchParams.set("execution", watched);
  address.searchParams.set("task", path);
  return address.href;
}

export async function copyTaskLink(path: TaskPath): Promise<void> {
  try {
    await navigator.clipboard.writeText(taskLink(path));
    notice(t("canvas.linkCopied"));
  } catch {
    notice(t("shell.theBrowserDidNotAllowCopying"));
  }
}

/** Select and show the task that the page's URL names; if the draft does not have it, say so. */
export function openLinkedTask(): void {
  const path = new URLSearchParams(location.search).get("task");
  if (path === null) return;
  const { history, select } = useStudio.getState();
  if (taskAt(history.present, path) === undefined) {
    notice(t("canvas.linkedTaskIsMissing", { task: path }));
    return;
  }
  select({ tasks: [path] });
  // On narrow screens the inspector is a drawer, which would cover the linked task.
  if (innerWidth >= NARROW) open("inspector");
  centre(path);
  const row = document.querySelector(`tr[data-task="${CSS.escape(path)}"]`);
  row?.scrollIntoView({ block: "center" });
}
