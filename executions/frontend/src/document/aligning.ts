/** Aligns and distributes boxes. Pure. */
import type { Point } from "./edits";
import type { Box } from "./sizes";

export type Alignment = "left" | "centre" | "right" | "top" | "middle" | "bottom";
export type Axis = "across" | "down";

const EDGES: Readonly<Record<Alignment, (box: Box, all: Box) => Point>> = {
  left: (box, all) => ({ x: all.x, y: box.y }),
  centre: (box, all) => ({ x: all.x + (all.w - box.w) / 2, y: box.y }),
  right: (box, all) => ({ x: all.x + all.w - box.w, y: box.y }),
  top: (box, all) => ({ x: box.x, y: all.y }),
  middle: (box, all) => ({ x: box.x, y: all.y + (all.h - box.h) / 2 }),
  bottom: (box, all) => ({ x: box.x, y: all.y + all.h - box.h }),
};

/** Return new positions that align all boxes with the outermost box, or with the centre. */
export function aligned(boxes: ReadonlyMap<string, Box>, alignment: Alignment): Map<string, Point> {
  const all = around([...boxes.values()]);
  return new Map([...boxes].map(([id, box]) => [id, rounded(EDGES[alignment](box, all))]));
}

/** Return new positions with equal gaps; the two outermost boxes stay. */
export function distributed(boxes: ReadonlyMap<string, Box>, axis: Axis): Map<string, Point> {
  const [start, length] = axis === "across" ? (["x", "w"] as const) : (["y", "h"] as const);
  const order = [...boxes].sort(([, one], [, other]) => one[start] - other[start]);
  const filled = order.reduce((sum, [, box]) => sum + box[length], 0);
  const gap = (around([...boxes.values()])[length] - filled) / Math.max(1, order.length - 1);
  let next = order[0]?.[1][start] ?? 0;
  const places = new Map<string, Point>();
  for (const [id, box] of order) {
    places.set(id, rounded({ x: box.x, y: box.y, [start]: next }));
    next += box[length] + gap;
  }
  return places;
}

/** Return the smallest box around these boxes. */
export function around(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.w));
  const bottom = Math.max(...boxes.map((box) => box.y + box.h));
  return { x, y, w: right - x, h: bottom - y };
}

const rounded = ({ x, y }: Point): Point => ({ x: Math.round(x), y: Math.round(y) });
