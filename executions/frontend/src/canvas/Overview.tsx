/**
 * A large graph at a low zoom. All nodes and edges are only a few SVG paths, so that the browser
 * can draw thousands of them. Each node is filled according to its progress, and crossed out if it
 * failed.
 */
import { getBezierPath, Position, ViewportPortal } from "@xyflow/react";
import { useMemo } from "react";
import type { Point } from "../document/edits";
import type { Box } from "../document/sizes";
import { useLive, wasTaken } from "../live/live";
import { type Colour, WORKING, WRONG } from "../live/states";
import type { CanvasLine, CanvasNode } from "./graph";

interface Props {
  nodes: readonly CanvasNode[];
  lines: readonly CanvasLine[];
}

export function Overview({ nodes, lines }: Props) {
  const boxes = useMemo(() => boxesOf(nodes), [nodes]);
  const live = useLive();
  const ways = useMemo(() => {
    const taken = (line: CanvasLine): boolean =>
      line.data !== undefined && wasTaken(live, line.data.body, line.data.edge);
    return { taken: wayOf(lines.filter(taken), boxes), untaken: wayOf(lines, boxes) };
  }, [lines, boxes, live]);
  const groups = useMemo(() => groupsOf(nodes, boxes), [nodes, boxes]);
  const around = (some: (node: CanvasNode) => boolean): string =>
    nodes
      .filter(some)
      .map((node) => rectangle(boxes.get(node.id)))
      .join("");
  return (
    <ViewportPortal>
      <svg className="overview" aria-hidden="true" width="1" height="1">
        <path className="way" d={ways.untaken} />
        <path className="way taken" d={ways.taken} />
        {[...groups].map(([key, { look, outline, filled, crosses }]) => (
          <g key={key} className={look}>
            <path className="box" d={outline} />
            <path className="filled" d={filled} />
            <path className="crosses" d={crosses} />
          </g>
        ))}
        <path className="around found" d={around(({ className }) => className === "marked")} />
        <path className="around chosen" d={around(({ selected }) => selected === true)} />
      </svg>
    </ViewportPortal>
  );
}

/**
 * Return each node's position and size on the canvas; containers must precede the nodes in them.
 */
export function boxesOf(nodes: readonly CanvasNode[]): ReadonlyMap<string, Box> {
  const boxes = new Map<string, Box>();
  for (const { id, parentId, position, width = 0, height = 0 } of nodes) {
    const { x, y } = (parentId !== undefined && boxes.get(parentId)) || { x: 0, y: 0 };
    boxes.set(id, { x: x + position.x, y: y + position.y, w: width, h: height });
  }
  return boxes;
}

/** Return the id of the innermost node at a point of the canvas, or null. */
export function nodeAt(nodes: readonly CanvasNode[], { x, y }: Point): string | null {
  const boxes = boxesOf(nodes);
  const found = nodes.findLast(({ id }) => {
    const box = boxes.get(id);
    return box && x >= box.x && y >= box.y && x <= box.x + box.w && y <= box.y + box.h;
  });
  return found?.id ?? null;
}

interface Group {
  look: string;
  outline: string;
  filled: string;
  crosses: string;
}

/** Group the nodes by appearance, and return one set of paths for each group. */
function groupsOf(nodes: readonly CanvasNode[], boxes: ReadonlyMap<string, Box>) {
  const groups = new Map<string, Group>();
  for (const node of nodes) {
    const box = boxes.get(node.id);
    if (!box || node.type === "note") continue;
    const { live } = node.data as { live?: { state: string; colour: Colour } };
    const look = `${node.type} ${live?.colour ?? "none"}`;
    const group = groups.get(look) ?? { look, outline: "", filled: "", crosses: "" };
    groups.set(look, group);
    group.outline += rectangle(box);
    if (node.type === "container" || !live) continue;
    if (WRONG.has(live.state)) group.crosses += cross(box);
    else group.filled += rectangle({ ...box, w: box.w * shareOf(live.state) });
  }
  return groups;
}

function shareOf(state: string): number {
  if (state === "SUCCESS") return 1;
  if (WORKING.has(state)) return 0.5;
  return state === "WAITING" ? 0.25 : 0;
}

const rectangle = (box: Box | undefined): string =>
  box && box.w > 0 ? `M${box.x} ${box.y}h${box.w}v${box.h}h${-box.w}z` : "";

const cross = ({ x, y, w, h }: Box): string => `M${x} ${y}l${w} ${h}M${x} ${y + h}l${w} ${-h}`;

function wayOf(lines: readonly CanvasLine[], boxes: ReadonlyMap<string, Box>): string {
  return lines
    .map(({ source, target }) => {
      const [from, to] = [boxes.get(source), boxes.get(target)];
      if (!from || !to) return "";
      const [path] = getBezierPath({
        sourceX: from.x + from.w,
        sourceY: from.y + from.h / 2,
        sourcePosition: Position.Right,
        targetX: to.x,
        targetY: to.y + to.h / 2,
        targetPosition: Position.Left,
      });
      return path;
    })
    .join("");
}
