/** What part of the time is seen. */
import type { ExecutionRow } from "../../live/frames";
import { moved, type Span, whole, zoomed } from "../axis";
import type { Run } from "../runs";
import { type Mode, serverTime, useMonitor } from "../store";
import { at } from "../times";

/** The view in a mode, at a time. Pure. */
export function viewOf(mode: Mode, view: Span, all: Span, now: number): Span {
  if (mode === "fit") return all;
  if (mode === "free") return view;
  const span = view.to - view.from;
  return { from: now - span * 0.95, to: now + span * 0.05 };
}

/** From the execution's beginning to its end or to now; a requeue may add what comes after. Pure. */
export function rangeOf(execution: ExecutionRow | null, runs: readonly Run[], now: number): Span {
  const end = runs.reduce(
    (last, run) => Math.max(last, run.finishedAt ?? 0),
    at(execution?.finishedAt) ?? now,
  );
  return whole(at(execution?.createdAt) ?? 0, end);
}

/** The view as it is drawn; the timeline tells it, so that zooming begins with it. */
let drawn: Span = { from: 0, to: 1000 };

export function noteDrawn(view: Span): void {
  drawn = view;
}

export function setMode(mode: Mode): void {
  useMonitor.setState({ mode, view: drawn });
}

export const toggleFollowing = (): void =>
  setMode(useMonitor.getState().mode === "follow" ? "free" : "follow");

/** Zoom around a point of the view, 0 its left end; where now is followed, around now. */
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
