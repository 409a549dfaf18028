/** The body that dragged tasks are about to move to, seen while the mouse is still down. */
import { create } from "zustand";
import type { BodyPath, TaskPath } from "../document/types";

interface Landing {
  /** Null where they stay in theirs. */
  body: BodyPath | null;
  /** The container that it is; null for the workflow itself, too. */
  into: TaskPath | null;
  tasks: readonly TaskPath[];
}

const STAYS: Landing = { body: null, into: null, tasks: [] };

export const useLanding = create<Landing>()(() => STAYS);

/** The dragged tasks that leave their container: it does not grow after them. */
export const leaving = (): readonly TaskPath[] => useLanding.getState().tasks;

export function land(body: BodyPath, tasks: readonly TaskPath[]): void {
  const into = body.length > 0 ? body.join(".") : null;
  const { body: before, into: known } = useLanding.getState();
  if (before === null || known !== into) useLanding.setState({ body, into, tasks });
}

export function stay(): void {
  if (useLanding.getState().body !== null) useLanding.setState(STAYS);
}
