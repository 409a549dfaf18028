/** A graph that is a long, thin line goes on below, like lines of text, so that it fits a screen.
 * Pure. */
import type { Point } from "./edits";
import { reach, type Size } from "./sizes";

const GAP = 80;
/** What is longer than this, and so many times as long as high, is broken. */
const LENGTH = 3000;
const RATIO = 8;
/** How much longer than high it should be then. */
const WANTED = 2;

/** The places of boxes that go from left to right, broken into bands where that is needed. */
export function banded(
  places: ReadonlyMap<string, Point>,
  sizes: ReadonlyMap<string, Size>,
): ReadonlyMap<string, Point> {
  const boxes = [...places].map(([id, place]) => ({
    id,
    ...place,
    ...(sizes.get(id) ?? { w: 0, h: 0 }),
  }));
  const { w, h } = reach(boxes);
  const step = h + GAP;
  if (w < LENGTH || w < RATIO * step) return places;
  const length = w / Math.sqrt(w / (WANTED * step));
  const broken = new Map<string, Point>();
  let [start, band, column] = [0, 0, Number.NaN];
  for (const box of boxes.toSorted((one, other) => one.x - other.x)) {
    // What begins together stays together.
    if (box.x !== column && box.x + box.w - start > length && box.x > start) {
      start = box.x;
      band += 1;
    }
    column = box.x;
    broken.set(box.id, { x: box.x - start, y: box.y + band * step });
  }
  return broken;
}
