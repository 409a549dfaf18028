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

/** How high a row is, in pixels; as in monitor.css. */
const ROW = 28;
/** Rows above and below those in sight that are there all the same. */
const SPARE = 8;
const HEAD = 28;
/** How high the table is at least and at most, in pixels; people may pull it larger. */
const HEIGHT = { least: 140, most: 384 };
/** Live bars grow this often, in milliseconds. */
const TICK = 250;
const AXIS = 600;

/** The table of runs, of which only the rows in sight exist. */
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

/** The rows as they are looked at. */
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

/** What part of the time is seen; it goes on by itself as long as something is under way. */
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

/** How far the table is scrolled, and how large its parts are. */
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

/** Scrolls the selected run into sight when another one is selected, and when it is there first. */
function useShown(scroller: { current: HTMLDivElement | null }, rows: readonly Row[]): void {
  const run = useMonitor((state) => state.run);
  const there = useMemo(() => rows.some((row) => row.run.id === run), [rows, run]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that come later leave it where it is
  useEffect(() => {
    if (run !== null && there) scrollTo(scroller.current, rows, run);
  }, [run, there]);
}

/** Makes the table as high as its rows until somebody pulls it to another height. */
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

/** Other rows than before are seen from the first one on. */
function useTop(scroller: { current: HTMLDivElement | null }): void {
  const which = useMonitor((state) => state.which);
  const before = useRef(which);
  useLayoutEffect(() => {
    if (before.current !== which && scroller.current) scroller.current.scrollTop = 0;
    before.current = which;
  }, [which, scroller]);
}

/** Scroll a run into sight. */
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

/** The row in the tab order: the selected one, else the one with the keyboard, else the first. */
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

/** Select the row of a number, and put the keyboard on it. */
function go(rows: readonly Row[], index: number, box: HTMLDivElement): void {
  const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
  if (!row) return;
  const { id } = row.run;
  scrollTo(box, rows, id);
  flushSync(() => choose({ run: id }, "timeline"));
  // Its row is made when the table has been scrolled, which the browser tells a frame later.
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      box
        .querySelector<HTMLElement>(`button[data-run="${CSS.escape(id)}"]`)
        ?.focus({ preventScroll: true }),
    ),
  );
}
