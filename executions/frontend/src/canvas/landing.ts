/** The body to which dragged tasks would move; known while the pointer is still down. */
import { create } from "zustand";
import type { BodyPath, TaskPath } from "../document/types";

interface Landing {
  /** Null if the tasks stay in their body. */
  body: BodyPath | null;
  /** The container of that body; null for the workflow itself, and if the tasks stay. */
  into: TaskPath | null;
  tasks: readonly TaskPath[];
}

const STAYS: Landing = { body: null, into: null, tasks: [] };

export const useLanding = create<Landing>()(() => STAYS);

/** Return the dragged tasks that leave their container; the container does not grow with them. */
export const leaving = (): readonly TaskPath[] => useLanding.getState().tasks;

export function land(body: BodyPath, tasks: readonly TaskPath[]): void {
  const into = body.length > 0 ? body.join(".") : null;
  const { body: before, into: known } = useLanding.getState();
  if (before === null || known !== into) useLanding.setState({ body, into, tasks });
}

export function stay(): void {
  if (useLanding.getState().body !== null) useLanding.setState(STAYS);
}
