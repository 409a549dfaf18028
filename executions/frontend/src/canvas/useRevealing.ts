import { useEffect, useRef } from "react";
import { bodyOf, taskAt } from "../document/paths";
import { useStudio } from "../store/studio";
import { isFolded, toggleFold } from "./folding";
import { reveal } from "./viewport";

/** Bring a newly selected task into view, regardless of where it was selected. */
export function useRevealing(): void {
  const path = useStudio(({ selection: { tasks } }) => (tasks.length === 1 ? tasks[0] : undefined));
  const toggled = useStudio((state) => state.collapsed);
  const shown = useRef<string | undefined>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an opened container is a reason to look again
  useEffect(() => {
    if (path === undefined || shown.current === path) {
      shown.current = path;
      return;
    }
    if (openAround(path)) return;
    shown.current = path;
    const frame = requestAnimationFrame(() => reveal(path));
    return () => cancelAnimationFrame(frame);
  }, [path, toggled]);
}

/** Expand the collapsed containers around a task; return false if there are none. */
export function openAround(path: string): boolean {
  const { history, collapsed } = useStudio.getState();
  const folded = bodyOf(path)
    .map((_, at, ids) => ids.slice(0, at + 1).join("."))
    .filter((one) => {
      const task = taskAt(history.present, one);
      return task !== undefined && isFolded(collapsed, one, task);
    });
  for (const one of folded) toggleFold(one);
  return folded.length > 0;
}
