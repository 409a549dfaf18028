/** Converts the document to React Flow's nodes and edges. Pure. Unchanged objects stay the same. */
import type { Edge as Line, Node } from "@xyflow/react";
import type { Point } from "../document/edits";
import { SUCCESS } from "../document/outcomes";
import { pathOf } from "../document/paths";
import {
  type Box,
  cardSize,
  type Direction,
  type Drawing,
  drawnOutcomes,
  notesOf,
  openSize,
  originOf,
  reach,
  type Size,
} from "../document/sizes";
import type { Body, BodyPath, Definition, Edge, Note, Task, TaskPath } from "../document/types";
import type { TaskLive } from "../live/live";
import type { Selection } from "../store/selection";
import { t } from "../words/t";
import { type Count, NONE } from "./counts";
import { HANDLE, handlesOf } from "./face";
import { accessibleName, lineName } from "./names";

export type TaskData = {
  path: TaskPath;
  task: Task;
  outcomes: readonly string[];
  direction: Direction;
  size: Size;
  folded: boolean;
  problems: Count;
  live: TaskLive | undefined;
};
export type NoteData = { body: BodyPath; note: Note };
export type LineData = { body: BodyPath; edge: Edge };
export type TaskNode = Node<TaskData, "task" | "container">;
export type NoteNode = Node<NoteData, "note">;
export type CanvasNode = TaskNode | NoteNode;
export type CanvasLine = Line<LineData, "line">;

/** Positions and sizes of nodes that are being dragged or resized; not yet in the document. */
export interface Moving {
  places: ReadonlyMap<string, Point>;
  sizes: ReadonlyMap<string, Size>;
  /** Tasks that leave their container; the container does not grow with them. */
  away: ReadonlySet<TaskPath>;
}
export const STILL: Moving = { places: new Map(), sizes: new Map(), away: new Set() };

export interface Scene {
  document: Definition;
  drawing: Drawing;
  selection: Selection;
  problems: ReadonlyMap<TaskPath, Count>;
  live: ReadonlyMap<TaskPath, TaskLive>;
  moving: Moving;
  canEdit: boolean;
}

export const noteId = (body: BodyPath, id: string): string => `note:${body.join(".")}:${id}`;

/**
 * Return all nodes, each container before the nodes in it; `before` has the previous nodes by id.
 */
export function nodesOf(
  scene: Scene,
  before: ReadonlyMap<string, CanvasNode> = new Map(),
): CanvasNode[] {
  const chosen = new Set([
    ...scene.selection.tasks,
    ...scene.selection.notes.map(({ body, id }) => noteId(body, id)),
  ]);
  const drawn: CanvasNode[] = [];
  new Painter(scene, chosen, before, drawn).paint(scene.document, [], { x: 0, y: 0 });
  return drawn;
}

class Painter {
  constructor(
    private readonly scene: Scene,
    private readonly chosen: ReadonlySet<string>,
    private readonly before: ReadonlyMap<string, CanvasNode>,
    private readonly drawn: CanvasNode[],
  ) {}

  /** Add the nodes of a body; return its extent from the corner of its parent. */
  paint(body: Body, at: BodyPath, origin: Point): Size {
    const notes = notesOf(body).map((note) => this.note(note, at, origin));
    const seen = new Set<string>();
    const tasks = body.tasks.flatMap((task) => {
      if (seen.has(task.id)) return [];
      seen.add(task.id);
      return this.task(task, body, at, origin);
    });
    return reach([...notes, ...tasks]);
  }

  private note(note: Note, at: BodyPath, origin: Point): Box {
    const id = noteId(at, note.id);
    const place = this.scene.moving.places.get(id) ?? {
      x: note.x + origin.x,
      y: note.y + origin.y,
    };
    const size = this.scene.moving.sizes.get(id) ?? { w: note.w, h: note.h };
    this.add({
      ...framed(id, place, size, at),
      type: "note",
      data: { body: at, note },
      selected: this.chosen.has(id),
      zIndex: at.length === 0 ? -1 : 0,
      draggable: this.scene.canEdit,
      ariaLabel: note.text ? t("canvas.noteText", { text: note.text }) : t("canvas.noteEmpty"),
    });
    return { ...place, ...size };
  }

  private task(task: Task, body: Body, at: BodyPath, origin: Point): Box {
    const path = pathOf(at, task.id);
    const { drawing, moving } = this.scene;
    const { x = 0, y = 0 } = task.ui ?? {};
    const place = moving.places.get(path) ?? { x: x + origin.x, y: y + origin.y };
    const outcomes = drawnOutcomes(task, body, drawing.types);
    const folded = task.body !== undefined && drawing.folded(path, task);
    const slot = this.drawn.length;
    const open = task.body !== undefined && !folded;
    if (open) this.drawn.length += 1;
    const size = open
      ? this.inside(task.body as Body, [...at, task.id])
      : cardSize(task, outcomes, drawing.direction);
    this.add(this.taskNode(task, path, at, place, size, outcomes, folded), open ? slot : undefined);
    return moving.away.has(path)
      ? { x: x + origin.x, y: y + origin.y, ...size }
      : { ...place, ...size };
  }

  private inside(body: Body, at: BodyPath): Size {
    const origin = originOf(body);
    const far = this.paint(body, at, origin);
    return openSize({ w: far.w - origin.x, h: far.h - origin.y }, origin);
  }

  private taskNode(
    task: Task,
    path: TaskPath,
    at: BodyPath,
    place: Point,
    size: Size,
    outcomes: readonly string[],
    folded: boolean,
  ): TaskNode {
    const { drawing, problems, live, canEdit } = this.scene;
    const count = problems.get(path) ?? NONE;
    const state = live.get(path);
    const { direction } = drawing;
    return {
      ...framed(path, place, size, at),
      type: task.body && !folded ? "container" : "task",
      data: { path, task, outcomes, direction, size, folded, problems: count, live: state },
      selected: this.chosen.has(path),
      draggable: canEdit,
      connectable: canEdit,
      handles: handlesOf(size, outcomes, direction, Boolean(task.body) && !folded).map((one) => ({
        ...one,
        x: one.x - HANDLE / 2,
        y: one.y - HANDLE / 2,
        width: HANDLE,
        height: HANDLE,
      })),
      ariaLabel: accessibleName(task, drawing.types, count, state),
    };
  }

  private add(node: CanvasNode, slot: number = this.drawn.length): void {
    const old = this.before.get(node.id);
    this.drawn[slot] = old && alike(old, node) ? old : node;
  }
}

/** The properties for position, size and parent, which all nodes have. */
function framed(id: string, place: Point, size: Size, at: BodyPath) {
  const measures = { width: size.w, height: size.h };
  const frame = { id, position: place, ...measures, measured: measures };
  return at.length === 0 ? frame : { ...frame, parentId: at.join(".") };
}

/** Whether two versions of a node look the same. */
function alike(one: CanvasNode, other: CanvasNode): boolean {
  return (
    one.type === other.type &&
    one.selected === other.selected &&
    one.draggable === other.draggable &&
    one.parentId === other.parentId &&
    one.position.x === other.position.x &&
    one.position.y === other.position.y &&
    one.width === other.width &&
    one.height === other.height &&
    one.ariaLabel === other.ariaLabel &&
    sameData(one.data, other.data)
  );
}

function sameData(one: TaskData | NoteData, other: TaskData | NoteData): boolean {
  if ("note" in one || "note" in other) {
    return "note" in one && "note" in other && one.note === other.note;
  }
  return (
    one.task === other.task &&
    one.folded === other.folded &&
    one.direction === other.direction &&
    one.live === other.live &&
    one.problems.errors === other.problems.errors &&
    one.problems.warnings === other.problems.warnings &&
    one.outcomes.join("\n") === other.outcomes.join("\n")
  );
}

/** Return the unique id of an edge: its body, its ends and its outcome. */
export const lineId = (body: BodyPath, edge: Edge): string =>
  `${pathOf(body, edge.from)}>${pathOf(body, edge.to)}:${edge.on ?? SUCCESS}`;

/** The data that edges are drawn from; `drawn` has the ids of the drawn nodes. */
export interface Linked {
  document: Definition;
  selection: Selection;
  drawn: ReadonlySet<string>;
}

/** Return the edges between drawn nodes. */
export function linesOf(
  { document, selection, drawn }: Linked,
  before: ReadonlyMap<string, CanvasLine> = new Map(),
): CanvasLine[] {
  const chosen = new Set(selection.edges.map(({ body, edge }) => lineId(body, edge)));
  const lines = new Map<string, CanvasLine>();
  const draw = (body: Body, at: BodyPath): void => {
    for (const edge of body.edges ?? []) {
      const line = lineOf(edge, at, chosen);
      if (!drawn.has(line.source) || !drawn.has(line.target)) continue;
      const old = before.get(line.id);
      const same = old?.data?.edge === edge && old.selected === line.selected;
      lines.set(line.id, same && old ? old : line);
    }
    for (const task of body.tasks) if (task.body) draw(task.body, [...at, task.id]);
  };
  draw(document, []);
  return [...lines.values()];
}

function lineOf(edge: Edge, at: BodyPath, chosen: ReadonlySet<string>): CanvasLine {
  const id = lineId(at, edge);
  return {
    id,
    type: "line",
    source: pathOf(at, edge.from),
    target: pathOf(at, edge.to),
    sourceHandle: edge.on ?? SUCCESS,
    targetHandle: "in",
    data: { body: at, edge },
    selected: chosen.has(id),
    ariaLabel: lineName(edge),
  };
}
