/** Moves dragged tasks between bodies, into and out of loops and maps. */
import type { MouseEvent, TouchEvent } from "react";
import type { Point } from "../document/edits";
import { bodyName, rehomed } from "../document/moving";
import { bodyAt, bodyOf } from "../document/paths";
import { type Box, originOf } from "../document/sizes";
import type { BodyPath, TaskPath } from "../document/types";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import type { CanvasNode } from "./graph";
import { land, stay, useLanding } from "./landing";
import { notice, useNotice } from "./notice";
import { boxOf, containers, pointOf } from "./viewport";

interface Drag {
  tasks: readonly TaskPath[];
  own: BodyPath;
  /** Positions of the containers at the start of the drag, innermost first. */
  boxes: readonly [TaskPath, Box][];
}

let drag: Drag | null = null;

type Pressed = MouseEvent | TouchEvent | globalThis.MouseEvent | globalThis.TouchEvent;

/** Start a drag. Only tasks of one body can move to another body. */
export function dragBegan(_: Pressed, _node: CanvasNode, nodes: readonly CanvasNode[]): void {
  stop();
  const tasks = nodes.flatMap((node) => (node.type === "note" ? [] : [node.id]));
  const bodies = new Set(tasks.map((path) => bodyOf(path).join(".")));
  const own = bodyOf(tasks[0] ?? "");
  const holds = (path: TaskPath): boolean =>
    tasks.some((task) => path === task || path.startsWith(`${task}.`));
  drag =
    bodies.size === 1 ? { tasks, own, boxes: containers().filter(([at]) => !holds(at)) } : null;
}

/** While the pointer moves, show the body that the tasks would move to. */
export function dragged(event: Pressed, node: CanvasNode): void {
  const place = "touches" in event ? event.touches[0] : event;
  if (!drag || !place) return;
  const { own, tasks } = drag;
  const body = bodyFor(drag, pointOf(place), node);
  if (body.join(".") === own.join(".")) stop();
  else {
    land(body, tasks);
    // Not announced to screen readers; they announce the finished move.
    useNotice.setState({ sentence: t("canvas.releaseToMove", { container: bodyName(body) }) });
  }
}

function stop(): void {
  if (useLanding.getState().body !== null) useNotice.setState({ sentence: "" });
  stay();
}

/**
 * Return the body under the pointer. A container grows with a dragged task, so the task leaves its
 * own container only when its card no longer overlaps it.
 */
function bodyFor({ own, boxes }: Drag, { x, y }: Point, node: CanvasNode): BodyPath {
  const home = own.join(".");
  const around = boxes.find(([path]) => path === home)?.[1];
  const found = boxes.find(
    ([, box]) => x > box.x && x < box.x + box.w && y > box.y && y < box.y + box.h,
  );
  const under = found?.[0] ?? "";
  const outwards = under === "" || home.startsWith(`${under}.`);
  if (around && outwards && touches(around, cardOf(node, around))) return own;
  return under === "" ? [] : under.split(".");
}

const cardOf = ({ position, width = 0, height = 0 }: CanvasNode, around: Box): Box => ({
  x: around.x + position.x,
  y: around.y + position.y,
  w: width,
  h: height,
});

const touches = (one: Box, other: Box): boolean =>
  one.x < other.x + other.w &&
  other.x < one.x + one.w &&
  one.y < other.y + other.h &&
  other.y < one.y + one.h;

/** End the drag; return the body that the tasks move to, or null if they stay in their body. */
export function landed(): { body: BodyPath; tasks: readonly TaskPath[] } | null {
  const { body, tasks } = useLanding.getState();
  drag = null;
  stop();
  return body && { body, tasks };
}

/**
 * Move tasks to another body. `first` is the first task's position on the canvas; the other tasks
 * keep their distances.
 */
export function moveTo(body: BodyPath, tasks: readonly TaskPath[], first: Point): void {
  const { history, edit, select } = useStudio.getState();
  const there = bodyAt(history.present, body);
  const corner = body.length > 0 ? boxOf(body.join(".")) : { x: 0, y: 0 };
  if (!there || !corner) return;
  const origin = body.length > 0 ? originOf(there) : { x: 0, y: 0 };
  const place = { x: first.x - corner.x - origin.x, y: first.y - corner.y - origin.y };
  const { document, paths, cut } = rehomed(history.present, tasks, body, place);
  edit(() => document);
  select({ tasks: paths });
  const said = { tasks: t("canvas.tasks", { count: paths.length }), container: bodyName(body) };
  notice(
    cut === 0
      ? t("canvas.movedTo", said)
      : t("canvas.movedToAndCut", {
          ...said,
          connections: t("canvas.connections", { count: cut }),
        }),
  );
}
