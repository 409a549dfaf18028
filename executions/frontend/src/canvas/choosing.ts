/** Copies React Flow's selection to the studio's store. */
import type { EdgeChange, NodeChange } from "@xyflow/react";
import type { Selection } from "../store/selection";
import { useStudio } from "../store/studio";
import type { CanvasLine, CanvasNode } from "./graph";

/** Apply selection changes of nodes to the store; without such changes, do nothing. */
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
