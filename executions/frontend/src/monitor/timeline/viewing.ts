/** The visible time range of the timeline. */
import type { ExecutionRow } from "../../live/frames";
import { moved, type Span, whole, zoomed } from "../axis";
import type { Run } from "../runs";
import { type Mode, serverTime, useMonitor } from "../store";
import { at } from "../times";

/** Return the range for a mode and time. Pure. */
export function viewOf(mode: Mode, view: Span, all: Span, now: number): Span {
  if (mode === "fit") return all;
  if (mode === "free") return view;
  const span = view.to - view.from;
  return { from: now - span * 0.95, to: now + span * 0.05 };
}

/**
 * Return the range from the execution's creation to its end or the present; runs after a requeue
 * may extend it. Pure.
 */
export function rangeOf(execution: ExecutionRow | null, runs: readonly Run[], now: number): Span {
  const end = runs.reduce(
    (last, run) => Math.max(last, run.finishedAt ?? 0),
    at(execution?.finishedAt) ?? now,
  );
  return whole(at(execution?.createdAt) ?? 0, end);
}

/** The range as drawn, which the timeline sets; zooming starts from it. */
let drawn: Span = { from: 0, to: 1000 };

export function noteDrawn(view: Span): void {
  drawn = view;
}

export function setMode(mode: Mode): void {
  useMonitor.setState({ mode, view: drawn });
}

export const toggleFollowing = (): void =>
  setMode(useMonitor.getState().mode === "follow" ? "free" : "follow");

/**
 * Zoom around a point of the range, 0 being its left end; in the mode "follow", around the present.
 */
export function zoomTime(factor: number, point = 0.5): void {
  const { mode } = useMonitor.getState();
  if (mode === "follow") useMonitor.setState({ view: zoomed(drawn, factor, 1) });
  else useMonitor.setState({ mode: "free", view: zoomed(drawn, factor, point) });
  drawn = viewOf(useMonitor.getState().mode, useMonitor.getState().view, drawn, serverTime());
}

export function panTime(share: number): void {
  drawn = moved(drawn, share);
  useMonitor.setState({ mode: "free", view: drawn });
}
