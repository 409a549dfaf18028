/**
 * The selection: a run, or a task without runs. It is part of the URL, so that users can share it.
 */
import { useLiveStore } from "../live/live";
import { type Chosen, type MonitorState, useMonitor } from "./store";

const read = (): Chosen => {
  const query = new URLSearchParams(location.search);
  return { run: query.get("run"), task: query.get("task") };
};

/** Select what the URL names, now and after each navigation in the browser's history. */
export function followAddress(): () => void {
  const take = (): void => useMonitor.setState({ ...read(), from: null });
  take();
  addEventListener("popstate", take);
  return () => removeEventListener("popstate", take);
}

/** Select a run by its id, a task by its path, or nothing. */
export function choose(chosen: Partial<Chosen> = {}, from: MonitorState["from"] = null): void {
  const { run = null, task = null } = chosen;
  const state = useMonitor.getState();
  if (run === state.run && task === state.task) return;
  const address = new URL(location.href);
  for (const [name, value] of Object.entries({ run, task })) {
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
  }
  history.replaceState(null, "", address);
  useMonitor.setState({ run, task, from });
}

/** Select the task's run that the graph shows, or the task if it has no run. */
export function chooseTask(path: string | null, from: MonitorState["from"] = "graph"): void {
  const run = path === null ? null : useLiveStore.getState().tasks.get(path)?.runId;
  if (path === null) choose({}, from);
  else choose(run ? { run } : { task: path }, from);
}
