/** Commands for the canvas on the page; they do nothing if there is no canvas. */
import type { ReactFlowInstance } from "@xyflow/react";
import type { Point } from "../document/edits";
import { type Box, originOf } from "../document/sizes";
import type { BodyPath, TaskPath } from "../document/types";
import type { CanvasLine, CanvasNode } from "./graph";

export type Flow = ReactFlowInstance<CanvasNode, CanvasLine>;

/** Zoom below which cards cannot be read. */
export const FAR = 0.35;

/** Zoom at which names are easy to read; the first view of a workflow has at least this zoom. */
const READABLE = 0.7;
/** Distance between the start of a workflow and the edge of the canvas, in pixels. */
const MARGIN = 48;

let flow: Flow | null = null;

/** The task to centre as soon as it is drawn. */
let wanted: TaskPath | null = null;

export function setFlow(instance: Flow | null): void {
  flow = instance;
}

/** Centre a task, now or when the canvas has drawn it. */
export function centre(path: TaskPath): void {
  wanted = path;
  reveal(path);
}

const duration = (): number => (matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 220);

/**
 * Set the first view. If the whole workflow is not readable, show its start, or the requested task.
 */
export function begin(): void {
  if (wanted !== null && reveal(wanted)) return;
  const page = pageBox();
  if (!flow || !page || flow.getZoom() >= READABLE) return;
  const nodes = flow.getNodes().filter((node) => !node.parentId);
  const { x, y, width, height } = flow.getNodesBounds(nodes);
  const isLong = width * page.height > height * page.width;
  const margin = { x: isLong ? MARGIN : (page.width - width * READABLE) / 2, y: MARGIN };
  if (isLong && height * READABLE < page.height) margin.y = (page.height - height * READABLE) / 2;
  void flow.setViewport({
    x: Math.max(MARGIN, margin.x) - x * READABLE,
    y: Math.max(MARGIN, margin.y) - y * READABLE,
    zoom: READABLE,
  });
}

/** Show the whole workflow, with this share of the canvas left free around it. */
export const fitWithin = (padding: number): void =>
  void flow?.fitView({
    padding,
    maxZoom: 1,
    duration: duration(),
    // In an overview, all nodes are hidden.
    includeHiddenNodes: true,
  });

export const fit = (): void => fitWithin(0.12);

/** Zoom to these tasks. */
export const zoomTo = (ids: readonly string[]): void =>
  void flow?.fitView({
    nodes: ids.map((id) => ({ id })),
    padding: 0.3,
    maxZoom: 1.25,
    duration: duration(),
  });

/** Move the view by this many pixels. */
export function pan(right: number, down: number): void {
  if (!flow) return;
  const { x, y, zoom } = flow.getViewport();
  void flow.setViewport({ x: x + right, y: y + down, zoom });
}

export const zoomIn = (): void => void flow?.zoomIn({ duration: duration() });
export const zoomOut = (): void => void flow?.zoomOut({ duration: duration() });

/**
 * Bring a node into view if it is out of view, or if it must be `readable` and is too small; return
 * false if the node is not drawn.
 */
export function reveal(id: string, readable = false): boolean {
  const node = flow?.getInternalNode(id);
  const page = pageBox();
  if (!flow || !node || !page) return false;
  const { x, y } = node.internals.positionAbsolute;
  const { width = 0, height = 0 } = node;
  const [from, to] = [
    flow.flowToScreenPosition({ x, y }),
    flow.flowToScreenPosition({ x: x + width, y: y + height }),
  ];
  const seen =
    to.x > page.left + 20 &&
    from.x < page.right - 20 &&
    to.y > page.top + 20 &&
    from.y < page.bottom - 20;
  if (!seen || wanted === id || (readable && flow.getZoom() < FAR)) {
    wanted = null;
    const zoom = Math.max(flow.getZoom(), 0.6);
    void flow.setCenter(x + width / 2, y + height / 2, { zoom, duration: duration() });
  }
  return true;
}

const pageBox = (): DOMRect | undefined =>
  document.querySelector(".canvas .react-flow")?.getBoundingClientRect();

/** Convert a point of the screen to canvas coordinates. */
export const pointOf = ({ clientX: x, clientY: y }: { clientX: number; clientY: number }): Point =>
  flow?.screenToFlowPosition({ x, y }) ?? { x: 0, y: 0 };

/** Return the centre of the view, in canvas coordinates. */
export function middle(): Point {
  const page = pageBox();
  if (!flow || !page) return { x: 0, y: 0 };
  return flow.screenToFlowPosition({
    x: page.left + page.width / 2,
    y: page.top + page.height / 2,
  });
}

/** Return the body under a point of the screen, and the point in coordinates of that body. */
export function bodyUnder(screen: Point): { body: BodyPath; at: Point } {
  const point = flow?.screenToFlowPosition(screen) ?? { x: 0, y: 0 };
  const found = (flow?.getNodes() ?? [])
    .filter((node) => node.type === "container")
    .flatMap((node) => flow?.getInternalNode(node.id) ?? [])
    .filter(({ internals: { positionAbsolute: at }, width = 0, height = 0 }) => {
      const [x, y] = [point.x - at.x, point.y - at.y];
      return x > 0 && x < width && y > 0 && y < height;
    })
    .sort((one, other) => depth(other.id) - depth(one.id))[0];
  if (!found || !("task" in found.data) || !found.data.task.body) return { body: [], at: point };
  const origin = originOf(found.data.task.body);
  const corner = found.internals.positionAbsolute;
  return {
    body: found.id.split("."),
    at: {
      x: Math.max(30, point.x - corner.x - origin.x),
      y: Math.max(27, point.y - corner.y - origin.y),
    },
  };
}

/** Return a task's position and size, in canvas coordinates. */
export function boxOf(path: TaskPath): Box | undefined {
  const found = flow?.getInternalNode(path);
  if (!found) return undefined;
  const { x, y } = found.internals.positionAbsolute;
  return { x, y, w: found.width ?? 0, h: found.height ?? 0 };
}

/** Return the expanded containers with their positions and sizes, innermost first. */
export const containers = (): [TaskPath, Box][] =>
  (flow?.getNodes() ?? [])
    .filter((node) => node.type === "container")
    .flatMap((node): [TaskPath, Box][] => {
      const box = boxOf(node.id);
      return box ? [[node.id, box]] : [];
    })
    .sort(([one], [other]) => depth(other) - depth(one));

const depth = (path: TaskPath): number => path.split(".").length;

/** Focus the canvas, after the focused element was removed. */
export function focusCanvas(): void {
  document.querySelector<HTMLElement>("section.canvas")?.focus({ preventScroll: true });
}
