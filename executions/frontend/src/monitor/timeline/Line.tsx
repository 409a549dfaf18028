import { memo } from "react";
import type { Mark } from "../../live/states";
import { Icon } from "../../shared/Icon";
import { t } from "../../words/t";
import type { Key } from "../../words/types";
import type { Span } from "../axis";
import { lengthOf, type Part, partsOf } from "../bars";
import type { Row } from "../rows";
import { markOfRun, nameOfStep, type Run } from "../runs";
import { choose } from "../selecting";
import { useMonitor } from "../store";
import { spoken, took } from "../times";

interface Props {
  row: Row;
  index: number;
  /** The time up to which an unfinished run's bar extends; the end of a finished run. */
  now: number;
  from: number;
  to: number;
  chosen: boolean;
  critical: boolean;
  folded: boolean;
  /** Whether its button is the one in the tab order. */
  focusable: boolean;
}

/** A run in the timeline: its name and its bar. */
export const Line = memo(function Line(props: Props) {
  const { row, index, now, from, to, chosen, critical, focusable } = props;
  const { run, depth } = row;
  const mark = markOfRun(run, now);
  const length = lengthOf(run, now);
  const classes = [
    "vm-row",
    `vm-${mark.colour}`,
    chosen ? "vm-chosen" : "",
    critical ? "vm-critical" : "",
    run.superseded ? "vm-superseded" : "",
  ];
  return (
    <tr className={classes.filter(Boolean).join(" ")} aria-rowindex={index + 2}>
      <th scope="row">
        <div className="vm-head">
          {row.inside > 0 && <Fold row={row} folded={props.folded} />}
          <button
            type="button"
            className="vm-name"
            data-run={run.id}
            style={{ paddingLeft: `${0.25 + depth * 0.9}rem` }}
            title={stepAttemptState(run.stepPath, run, mark)}
            tabIndex={focusable ? 0 : -1}
            aria-current={chosen ? "true" : undefined}
            onClick={() => choose({ run: run.id }, "timeline")}
          >
            <Icon name={mark.icon} />
            <span className="vm-step" aria-hidden="true">
              {stemOf(row)}
            </span>
            <span className="vm-about" aria-hidden="true">
              {length === null ? mark.word : took(length)}
            </span>
            <span className="unseen">{told(run, mark, length, critical)}</span>
          </button>
        </div>
      </th>
      <td>
        <div
          className="vm-bars"
          data-run={run.id}
          aria-hidden="true"
          onClick={() => choose({ run: run.id }, "timeline")}
        >
          {partsOf(run, now).map((part) => (
            <Bar key={part.kind} part={part} run={run} view={{ from, to }} />
          ))}
        </div>
      </td>
    </tr>
  );
});

function stemOf({ run, name, turn }: Row): string {
  const stem = nameOfStep(`${turn ? `${turn}.` : ""}${name}`);
  return run.attempt > 1 ? `${stem} #${run.attempt}` : stem;
}

const stepAttemptState = (step: string, { attempt }: Run, { word }: Mark): string =>
  t("monitor.stepAttemptState", { step, attempt, state: word });

function told(run: Run, mark: Mark, length: number | null, critical: boolean): string {
  const parts = [stepAttemptState(nameOfStep(run.stepPath), run, mark)];
  if (length !== null) parts.push(spoken(length));
  if (critical) parts.push(t("monitor.onTheCriticalPath"));
  return parts.join(", ");
}

function Fold({ row: { run, inside }, folded }: { row: Row; folded: boolean }) {
  const toggle = (): void => {
    const paths = new Set(useMonitor.getState().folded);
    if (!paths.delete(run.stepPath)) paths.add(run.stepPath);
    useMonitor.setState({ folded: paths });
  };
  return (
    <button
      type="button"
      className="vm-fold"
      aria-expanded={!folded}
      aria-label={t("monitor.runsInside", { count: inside, step: nameOfStep(run.stepPath) })}
      onClick={toggle}
    >
      <Icon name={folded ? "chevron_right" : "expand_more"} />
    </button>
  );
}

const PARTS = {
  backoff: "monitor.partBackoff",
  queued: "monitor.partQueued",
  waiting: "monitor.partWaiting",
  running: "monitor.partRunning",
} as const satisfies Record<Part["kind"], Key>;

function Bar({ part: { kind, from, to }, run, view }: { part: Part; run: Run; view: Span }) {
  const share = (time: number): number =>
    Math.min(1.01, Math.max(-0.01, (time - view.from) / (view.to - view.from)));
  const state = kind === "running" ? ` vm-part-${run.state.toLowerCase()}` : "";
  return (
    <i
      className={`vm-part vm-part-${kind}${state}`}
      style={{ left: `${share(from) * 100}%`, width: `${(share(to) - share(from)) * 100}%` }}
      title={t("monitor.partTime", { part: t(PARTS[kind]), time: took(to - from) })}
    />
  );
}
