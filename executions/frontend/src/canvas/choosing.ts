/** What React Flow selects and deselects, as the studio's selection. */
import type { EdgeChange, NodeChange } from "@xyflow/react";
import type { Selection } from "../store/selection";
import { useStudio } from "../store/studio";
import type { CanvasLine, CanvasNode } from "./graph";

/** Carry selecting over into the store; nothing where nothing was selected or deselected. */
export function chooseNodes(
  changes: readonly NodeChange<CanvasNode>[],
  nodes: readonly CanvasNode[],
): void {
  const told = toldBy(changes);
  if (told.size === 0) return;
  const chosen = nodes.filter((node) => told.get(node.id) ?? node.selected);
  const { selection, select } = useStudio.getState();
  const next: Selection = {
    ...selection,
    tasks: chosen.flatMap((node) => (node.type === "note" ? [] : [node.id])),
    notes: chosen.flatMap((node) =>
      node.type === "note" ? [{ body: node.data.body, id: node.data.note.id }] : [],
    ),
  };
  select(next);
}

export function chooseLines(
  changes: readonly EdgeChange<CanvasLine>[],
  lines: readonly CanvasLine[],
): void {
  const told = toldBy(changes);
  if (told.size === 0) return;
  const edges = lines
    .filter((line) => told.get(line.id) ?? line.selected)
    .flatMap((line) => (line.data ? [line.data] : []));
  const { selection, select } = useStudio.getState();
  select({ ...selection, edges });
}

const toldBy = (
  changes: readonly (NodeChange<CanvasNode> | EdgeChange<CanvasLine>)[],
): Map<string, boolean> =>
  new Map(changes.flatMap((one) => (one.type === "select" ? [[one.id, one.selected]] : [])));
