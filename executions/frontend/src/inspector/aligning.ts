/** Aligns the positions of several tasks. Pure. */
import type { Point } from "../document/edits";
import type { TaskPath } from "../document/types";
import { t } from "../words/t";

export type Alignment = "left" | "top" | "across" | "down";

/**
 * Return the reason why this number of tasks cannot be aligned, or undefined. Distributing moves
 * the tasks between the two outermost ones, so it needs at least three.
 */
export function tooFew(count: number, how: Alignment): string | undefined {
  if (count < 2) return t("inspector.selectTwoTasksOrMore");
  const distributes = how === "across" || how === "down";
  return distributes && count < 3 ? t("inspector.selectThreeTasksOrMore") : undefined;
}

/** Return the tasks' positions after an alignment: on a line, or at equal distances. */
export function aligned(
  places: ReadonlyMap<TaskPath, Point>,
  how: Alignment,
): Map<TaskPath, Point> {
  const all = [...places];
  const least = (of: (point: Point) => number): number =>
    Math.min(...all.map(([, point]) => of(point)));
  if (how === "left") {
    const x = least((point) => point.x);
    return new Map(all.map(([path, point]) => [path, { ...point, x }]));
  }
  if (how === "top") {
    const y = least((point) => point.y);
    return new Map(all.map(([path, point]) => [path, { ...point, y }]));
  }
  return spread(all, how === "across" ? "x" : "y");
}

/** Place the tasks at equal distances between the two outermost ones, which stay. */
function spread(all: readonly [TaskPath, Point][], axis: "x" | "y"): Map<TaskPath, Point> {
  const sorted = [...all].sort(([, a], [, b]) => a[axis] - b[axis]);
  const from = sorted.at(0)?.[1][axis] ?? 0;
  const to = sorted.at(-1)?.[1][axis] ?? 0;
  const step = sorted.length > 1 ? (to - from) / (sorted.length - 1) : 0;
  return new Map(
    sorted.map(([path, point], at) => [path, { ...point, [axis]: Math.round(from + at * step) }]),
  );
}
