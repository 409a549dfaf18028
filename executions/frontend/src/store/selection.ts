import { taskAt } from "../document/paths";
import type { BodyPath, Definition, Edge, TaskPath } from "../document/types";

/** An edge, with the path of its body. */
export interface ChosenEdge {
  body: BodyPath;
  edge: Edge;
}

/** A note's id, with the path of its body. */
export interface ChosenNote {
  body: BodyPath;
  id: string;
}

export interface Selection {
  tasks: readonly TaskPath[];
  edges: readonly ChosenEdge[];
  notes: readonly ChosenNote[];
}

export const NOTHING: Selection = { tasks: [], edges: [], notes: [] };

/** Remove tasks that no longer exist from the selection. */
export function clean(selection: Selection, document: Definition): Selection {
  const tasks = selection.tasks.filter((path) => taskAt(document, path) !== undefined);
  return tasks.length === selection.tasks.length ? selection : { ...selection, tasks };
}
