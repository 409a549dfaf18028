/** Breaks a long, thin graph into bands, like lines of text, so that it fits on a screen. Pure. */
import type { Point } from "./edits";
import { reach, type Size } from "./sizes";

const GAP = 80;
/**
 * A graph is broken if it is longer than `length` pixels, and longer than `ratio` times its height.
 * Its length is then about `wanted` times its height.
 */
interface Shape {
  length: number;
  ratio: number;
  wanted: number;
}
const WIDE: Shape = { length: 3000, ratio: 8, wanted: 2 };
const NARROW: Shape = { length: 800, ratio: 2, wanted: 1 };

/** Return the positions of boxes laid out from left to right, broken into bands if necessary. */
export const banded = (places: Places, sizes: Sizes): Places => broken(places, sizes, WIDE);

/** As `banded`, for a narrow screen. */
export const narrowlyBanded = (places: Places, sizes: Sizes): Places =>
  broken(places, sizes, NARROW);

type Places = ReadonlyMap<string, Point>;
type Sizes = ReadonlyMap<string, Size>;

function broken(places: Places, sizes: Sizes, shape: Shape): Places {
  const boxes = [...places].map(([id, place]) => ({
    id,
    ...place,
    ...(sizes.get(id) ?? { w: 0, h: 0 }),
  }));
  const { w, h } = reach(boxes);
  const step = h + GAP;
  if (w < shape.length || w < shape.ratio * step) return places;
  const length = Math.sqrt(w * shape.wanted * step);
  const moved = new Map<string, Point>();
  let [start, band, column] = [0, 0, Number.NaN];
  for (const box of boxes.toSorted((one, other) => one.x - other.x)) {
    // Keep boxes of the same column in one band.
    if (box.x !== column && box.x + box.w - start > length && box.x > start) {
      start = box.x;
      band += 1;
    }
    column = box.x;
    moved.set(box.id, { x: box.x - start, y: box.y + band * step });
  }
  return moved;
}
