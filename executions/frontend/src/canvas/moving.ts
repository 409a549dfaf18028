/** Applies drags, arrow keys and resizing to the document. */
import type { NodeChange } from "@xyflow/react";
import { changeNotes, moveTasks, type Point } from "../document/edits";
import { bodyAt, bodyOf } from "../document/paths";
import { HEAD, originOf, PAD, type Size } from "../document/sizes";
import type { BodyPath, Definition, TaskPath } from "../document/types";
import { type CanvasNode, type Moving, STILL } from "./graph";

type Change = NodeChange<CanvasNode>;

/**
 * Return the positions and sizes after these changes; null if no change moves or resizes a node.
 */
export function underWay(
  before: Moving,
  changes: readonly Change[],
  away: readonly TaskPath[] = [],
): Moving | null {
  const places = new Map(before.places);
  const sizes = new Map(before.sizes);
  let moved = false;
  for (const change of changes) {
    if (change.type === "position" && change.position) {
      places.set(change.id, change.position);
      moved = true;
    }
    if (change.type === "dimensions" && change.resizing !== undefined && change.dimensions) {
      sizes.set(change.id, { w: change.dimensions.width, h: change.dimensions.height });
      moved = true;
    }
  }
  return moved ? { places, sizes, away: new Set(away) } : null;
}

/** Whether a drag or a resize continues, because the pointer is still down. */
export const goesOn = (changes: readonly Change[]): boolean =>
  changes.some(
    (change) =>
      (change.type === "position" && change.dragging === true) ||
      (change.type === "dimensions" && change.resizing === true),
  );

/** Return the document with the new positions and sizes of moved and resized nodes. */
export function settled(document: Definition, moving: Moving, nodes: readonly CanvasNode[]) {
  const tasks = new Map<TaskPath, Point>();
  let changed = document;
  for (const node of nodes) {
    const place = moving.places.get(node.id);
    const size = moving.sizes.get(node.id);
    if (node.type === "note" && (place || size)) {
      changed = withNote(changed, node.data.body, node.data.note.id, place, size);
    } else if (place && node.type !== "note") {
      tasks.set(node.id, onPlane(document, bodyOf(node.id), place));
    }
  }
  return tasks.size > 0 ? moveTasks(changed, tasks) : changed;
}

function withNote(
  document: Definition,
  body: BodyPath,
  id: string,
  place: Point | undefined,
  size: Size | undefined,
): Definition {
  const at = place ? onPlane(document, body, place) : {};
  const measures = size ? { w: Math.round(size.w), h: Math.round(size.h) } : {};
  return changeNotes(document, body, (notes) =>
    notes.map((note) => (note.id === id ? { ...note, ...at, ...measures } : note)),
  );
}

/** Convert a position in a container to one in its body, below the header and inside the border. */
function onPlane(document: Definition, body: BodyPath, place: Point): Point {
  const found = body.length > 0 ? bodyAt(document, body) : undefined;
  if (!found) return { x: Math.round(place.x), y: Math.round(place.y) };
  const origin = originOf(found);
  return {
    x: Math.round(Math.max(PAD, place.x) - origin.x),
    y: Math.round(Math.max(HEAD + PAD, place.y) - origin.y),
  };
}

export { STILL };
