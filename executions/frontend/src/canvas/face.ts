/** Positions of a card's handles, in pixels from its upper left corner. Pure. */
import { Position } from "@xyflow/react";
import type { Point } from "../document/edits";
import { ERROR, SUCCESS } from "../document/outcomes";
import { type Direction, HEAD, namedOutcomes, ROW, type Size } from "../document/sizes";

export interface HandlePlace extends Point {
  /** The outcome, or IN for the input. */
  id: string;
  type: "source" | "target";
  position: Position;
}

export const IN = "in";
export const HANDLE = 10;
/** Distance of the error handle from the end of its side, in pixels. */
const CORNER = 11;

/** Return the handles of a card, the input first; `open` means an expanded container. */
export function handlesOf(
  size: Size,
  outcomes: readonly string[],
  direction: Direction,
  open: boolean,
): HandlePlace[] {
  return direction === "LR" ? across(size, outcomes, open) : down(size, outcomes);
}

function across(size: Size, outcomes: readonly string[], open: boolean): HandlePlace[] {
  const named = namedOutcomes(outcomes);
  const right = (id: string, y: number): HandlePlace => ({
    id,
    type: "source",
    position: Position.Right,
    x: size.w,
    y,
  });
  const top = size.h - named.length * ROW - 4;
  const rows = named.map((outcome, at) =>
    right(outcome, open ? HEAD + (at + 0.5) * ROW : top + (at + 0.5) * ROW),
  );
  const sources = named.length > 0 ? rows : [right(SUCCESS, HEAD / 2)];
  const foot = open || named.length > 0 ? HEAD : size.h;
  return [
    { id: IN, type: "target", position: Position.Left, x: 0, y: HEAD / 2 },
    ...sources,
    right(ERROR, foot - CORNER),
  ];
}

function down(size: Size, outcomes: readonly string[]): HandlePlace[] {
  const named = namedOutcomes(outcomes);
  const bottom = (id: string, x: number): HandlePlace => ({
    id,
    type: "source",
    position: Position.Bottom,
    x,
    y: size.h,
  });
  const cell = (size.w - 36) / Math.max(1, named.length);
  const sources =
    named.length > 0
      ? named.map((outcome, at) => bottom(outcome, 8 + cell * (at + 0.5)))
      : [bottom(SUCCESS, size.w / 2)];
  return [
    { id: IN, type: "target", position: Position.Top, x: size.w / 2, y: 0 },
    ...sources,
    bottom(ERROR, size.w - CORNER - 3),
  ];
}
