import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useLiveStore } from "../../live/live";
import { ALIVE } from "../../live/states";
import { t } from "../../words/t";
import { ticks } from "../axis";
import { useTick } from "../clock";
import { type Row, rowsOf } from "../rows";
import { choose } from "../selecting";
import { serverTime, useMonitor } from "../store";
import { at } from "../times";
import { Line } from "./Line";
import { useTimeGestures } from "./useTimeGestures";
import { noteDrawn, panTime, rangeOf, viewOf } from "./viewing";

/** Height of a row, in pixels; monitor.css has the same value. */
const ROW = 28;
/** Number of rendered rows above and below the visible ones. */
const SPARE = 8;
const HEAD = 28;
/** Limits of the table's height, in pixels; users can resize it. */
const HEIGHT = { least: 140, most: 384 };
/** Time between updates of unfinished bars, in milliseconds. */
const TICK = 250;
const AXIS = 600;

/** The table of runs, in which only rows near the visible ones are rendered. */
export function Table() {
  const rows = useRows();
  const scroller = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLDivElement>(null);
  const { top, height, width } = useScrolling(scroller, axis);
  useTimeGestures(scroller, axis);
  useShown(scroller, rows);
  useTop(scroller);
  useGrowing(scroller, rows.length);
  const { from, to, now, start, isLive } = useTime();
  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const seen = rows.slice(first, first + Math.ceil(height / ROW) + 2 * SPARE);
  const share = (now - from) / (to - from);
  const nowAt = isLive ? `${Math.min(1, Math.max(0, share)) * 100}%` : "-1%";
  return (
    <div
      className="vm-scroller"
      ref={scroller}
      style={{ "--vm-now": nowAt } as React.CSSProperties}
    >
      <table
        aria-label={t("monitor.runs")}
        aria-colcount={2}
        aria-rowcount={rows.length + 1}
        hidden={rows.length === 0}
      >
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">{t("monitor.run")}</th>
            <th scope="col">
              <span className="unseen">{t("monitor.timeSinceItWasCreated")}</span>
              <div className="vm-axis" ref={axis} aria-hidden="true">
                {ticks({ from, to }, start, width).map((tick) => (
                  <span
                    key={tick.at}
                    className="vm-tick"
                    style={{ left: `${((tick.at - from) / (to - from)) * 100}%` }}
                  >
                    {tick.label}
                  </span>
                ))}
              </div>
            </th>
          </tr>
        </thead>
        <tbody onKeyDown={(event) => pressed(event, rows, scroller.current)}>
          <Pad rows={first} />
          <Lines rows={seen} first={first} now={now} from={from} to={to} />
          <Pad rows={rows.length - first - seen.length} />
        </tbody>
      </table>
      {rows.length === 0 && <p className="vk-empty vm-empty">{t("monitor.noSuchRuns")}</p>}
    </div>
  );
}

/** Return the rows, filtered and collapsed as the user chose. */
function useRows(): readonly Row[] {
  const runs = useMonitor((state) => state.runs);
  const which = useMonitor((state) => state.which);
  const rolledBack = useMonitor((state) => state.rolledBack);
  const folded = useMonitor((state) => state.folded);
  return useMemo(
    () => rowsOf(runs, which, { now: serverTime(), rolledBack, folded }),
    [runs, which, rolledBack, folded],
  );
}

/** Return the visible time range; it advances while a run is unfinished. */
function useTime() {
  const execution = useLiveStore((state) => state.execution);
  const runs = useMonitor((state) => state.runs);
  const mode = useMonitor((state) => state.mode);
  const chosen = useMonitor((state) => state.view);
  const isLive = execution !== null && execution.finishedAt === null;
  const moves = useMemo(() => isLive || runs.some((run) => ALIVE.has(run.state)), [isLive, runs]);
  const tick = useTick(moves ? TICK : 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a tick is a reason; scrolling moves no bar
  const time = useMemo(() => {
    const now = serverTime();
    return { now, ...viewOf(mode, chosen, rangeOf(execution, runs, now), now) };
  }, [tick, execution, runs, mode, chosen]);
  const { from, to } = time;
  useLayoutEffect(() => noteDrawn({ from, to }), [from, to]);
  return { ...time, start: at(execution?.createdAt) ?? 0, isLive };
}

/** Return the scroll position and the sizes of the table's parts. */
function useScrolling(
  scroller: { current: HTMLDivElement | null },
  axis: { current: HTMLDivElement | null },
) {
  const [sizes, setSizes] = useState({ top: 0, height: 400, width: AXIS });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const measure = (): void =>
      setSizes({
        top: box.scrollTop,
        height: box.clientHeight,
        width: axis.current?.clientWidth || AXIS,
      });
    const scrolled = (): void => flushSync(measure);
    measure();
    const sized = new ResizeObserver(measure);
    sized.observe(box);
    box.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      sized.disconnect();
      box.removeEventListener("scroll", scrolled);
    };
  }, [scroller, axis]);
  return sizes;
}

/** Scroll to the selected run when the selection changes, or when the run first appears. */
function useShown(scroller: { current: HTMLDivElement | null }, rows: readonly Row[]): void {
  const run = useMonitor((state) => state.run);
  const there = useMemo(() => rows.some((row) => row.run.id === run), [rows, run]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that come later leave it where it is
  useEffect(() => {
    if (run !== null && there) scrollTo(scroller.current, rows, run);
  }, [run, there]);
}

/** Set the table's height to that of its rows, until the user resizes the table. */
function useGrowing(scroller: { current: HTMLDivElement | null }, rows: number): void {
  const own = useRef("");
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || box.style.height !== own.current) return;
    const needed = HEAD + rows * ROW + 1;
    box.style.height = `${Math.min(HEIGHT.most, Math.max(HEIGHT.least, needed))}px`;
    own.current = box.style.height;
  }, [scroller, rows]);
}

/** Scroll to the first row when the filter changes. */
function useTop(scroller: { current: HTMLDivElement | null }): void {
  const which = useMonitor((state) => state.which);
  const before = useRef(which);
  useLayoutEffect(() => {
    if (before.current !== which && scroller.current) scroller.current.scrollTop = 0;
    before.current = which;
  }, [which, scroller]);
}

/** Scroll a run into view. */
function scrollTo(box: HTMLDivElement | null, rows: readonly Row[], id: string): void {
  const index = rows.findIndex((row) => row.run.id === id);
  if (index < 0 || !box) return;
  const top = index * ROW;
  const room = box.clientHeight - HEAD;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW > box.scrollTop + room) box.scrollTop = top + ROW - room;
}

interface LinesProps {
  rows: readonly Row[];
  first: number;
  now: number;
  from: number;
  to: number;
}

function Lines({ rows, first, now, from, to }: LinesProps) {
  const selected = useMonitor((state) => state.run);
  const critical = useMonitor((state) => state.critical);
  const folded = useMonitor((state) => state.folded);
  const focusable = focusableOf(rows, selected);
  return rows.map((row, index) => (
    <Line
      key={row.run.id}
      row={row}
      index={first + index}
      now={row.run.finishedAt ?? now}
      from={from}
      to={to}
      chosen={row.run.id === selected}
      critical={critical.has(row.run.id)}
      folded={folded.has(row.run.stepPath)}
      focusable={row.run.id === focusable}
    />
  ));
}

/** Return the row in the tab order: the selected one, else the focused one, else the first. */
function focusableOf(rows: readonly Row[], selected: string | null): string | undefined {
  const focused = (document.activeElement as HTMLElement | null)?.dataset.run;
  const found = [selected, focused].find((id) => rows.some((row) => row.run.id === id));
  return found ?? rows[0]?.run.id;
}

const Pad = ({ rows }: { rows: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
  <tr className="vm-pad" aria-hidden="true">
    <td colSpan={2} style={{ height: `${rows * ROW}px` }} />
  </tr>
);

function pressed(event: KeyboardEvent, rows: readonly Row[], box: HTMLDivElement | null): void {
  const button = event.target instanceof HTMLElement ? event.target.closest("button") : null;
  const id = button?.dataset.run;
  if (id === undefined || !box || event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 2);
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
  const index = rows.findIndex((row) => row.run.id === id);
  if (event.key === "Home") go(rows, 0, box);
  else if (event.key === "End") go(rows, rows.length - 1, box);
  else if (step !== undefined) go(rows, index + step, box);
  else if (event.key === "ArrowLeft") panTime(-0.1);
  else if (event.key === "ArrowRight") panTime(0.1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Select the row with this index, and focus it. */
function go(rows: readonly Row[], index: number, box: HTMLDivElement): void {
  const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
  if (!row) return;
  const { id } = row.run;
  scrollTo(box, rows, id);
  flushSync(() => choose({ run: id }, "timeline"));
  // Two frames later: the row is rendered after the scroll event, which fires in the next frame.
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      box
        .querySelector<HTMLElement>(`button[data-run="${CSS.escape(id)}"]`)
        ?.focus({ preventScroll: true }),
    ),
  );
}
