/**
 * Positions for the vertices of a layered graph, in time proportional to their number. Pure.
 *
 * Used for bodies for which dagre is too slow. Layers run from left to right; a layer with very
 * many vertices becomes several columns.
 */
import type { Point } from "./edits";
import type { Layers } from "./layers";
import type { Size } from "./sizes";

/** Distance between columns and between the vertices of a column, in pixels. */
interface Gaps {
  across: number;
  down: number;
}

const FEWEST_ROWS = 16;
const PASSES = 4;

/** Return the upper left corner of each vertex; `layers` has bends, which have no size, last. */
export function placed(layers: Layers, sizes: readonly Size[], gaps: Gaps): Point[] {
  const all = layers.before.map((_, vertex) => sizes[vertex] ?? { w: 0, h: 0 });
  const columns = columnsOf(layers);
  const ys = heights(columns, layers, all, gaps.down);
  const points: Point[] = [];
  let x = 0;
  for (const column of columns) {
    for (const vertex of column) points[vertex] = { x, y: ys[vertex] as number };
    x += Math.max(...column.map((vertex) => sizeAt(all, vertex).w)) + gaps.across;
  }
  return points.slice(0, layers.count);
}

const sizeAt = (sizes: readonly Size[], vertex: number): Size => sizes[vertex] ?? { w: 0, h: 0 };

/**
 * Return the layers as columns; a very high layer becomes several columns of about equal height.
 */
function columnsOf({ rows, count }: Layers): number[][] {
  const most = Math.max(FEWEST_ROWS, Math.floor(Math.sqrt(2 * count)));
  return rows.flatMap((row) => {
    const height = Math.ceil(row.length / Math.ceil(row.length / most));
    const starts = Array.from({ length: Math.ceil(row.length / height) }, (_, at) => at * height);
    return starts.map((start) => row.slice(start, start + height));
  });
}

/** Place each vertex as near to the middle of its neighbours as its column allows. */
function heights(
  columns: readonly number[][],
  layers: Layers,
  sizes: readonly Size[],
  gap: number,
): number[] {
  const ys: number[] = [];
  for (const column of columns) stack(column, sizes, gap, ys);
  for (let turn = 0; turn < PASSES; turn += 1) {
    const forwards = turn % 2 === 0;
    const neighbours = forwards ? layers.before : layers.after;
    for (const column of forwards ? columns : columns.toReversed()) {
      settle(column, neighbours, sizes, gap, ys);
    }
  }
  const top = ys.reduce((least, y) => Math.min(least, y), Number.POSITIVE_INFINITY);
  return ys.map((y) => y - top);
}

/** Place the vertices of a column one below another, centred at zero. */
function stack(column: readonly number[], sizes: readonly Size[], gap: number, ys: number[]): void {
  let y = -column.reduce((sum, vertex) => sum + sizeAt(sizes, vertex).h + gap, -gap) / 2;
  for (const vertex of column) {
    ys[vertex] = y;
    y += sizeAt(sizes, vertex).h + gap;
  }
}

/** Least squares with the order of the column: pool adjacent violators (Barlow et al., 1972). */
function settle(
  column: readonly number[],
  neighbours: readonly number[][],
  sizes: readonly Size[],
  gap: number,
  ys: number[],
): void {
  const blocks: { mean: number; many: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const vertex of column) {
    offsets.push(offset);
    let block = { mean: wish(vertex, neighbours[vertex] ?? [], sizes, ys) - offset, many: 1 };
    offset += sizeAt(sizes, vertex).h + gap;
    for (let last = blocks.at(-1); last && last.mean > block.mean; last = blocks.at(-1)) {
      blocks.pop();
      const many = last.many + block.many;
      block = { mean: (last.mean * last.many + block.mean * block.many) / many, many };
    }
    blocks.push(block);
  }
  const means = blocks.flatMap(({ mean, many }) => new Array<number>(many).fill(mean));
  column.forEach((vertex, at) => {
    ys[vertex] = (means[at] as number) + (offsets[at] as number);
  });
}

function wish(
  vertex: number,
  neighbours: readonly number[],
  sizes: readonly Size[],
  ys: readonly number[],
): number {
  if (neighbours.length === 0) return ys[vertex] as number;
  const middle = (one: number): number => (ys[one] as number) + sizeAt(sizes, one).h / 2;
  const sum = neighbours.reduce((total, one) => total + middle(one), 0);
  return sum / neighbours.length - sizeAt(sizes, vertex).h / 2;
}
