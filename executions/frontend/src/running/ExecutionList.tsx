import { useRef } from "react";
import { took } from "../canvas/durations";
import { useLiveStore } from "../live/live";
import { FINAL, markOf } from "../live/states";
import { watch } from "../live/watching";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { ago, clock, span } from "./ages";
import type { ExecutionSummary } from "./executions";
import "./executions.css";
import { useLatest } from "./latest";
import { executionPageOf } from "./links";
import { useResultsStore } from "./results";
import { openRun } from "./wish";

/** The latest executions, beside the canvas; a click shows an execution's states and data. */
export function ExecutionList() {
  const root = useRef<HTMLElement>(null);
  const { rows, more, trouble, showAll } = useLatest(root);
  const watched = useLiveStore((state) => state.watched);
  const results = useResultsStore((state) => state.results?.executionId);
  const shown = watched ?? results;
  return (
    <section ref={root} className="executions" aria-label={t("running.latestExecutions")}>
      {trouble !== "" && (
        <p className="executions-note wrong" role="alert">
          {trouble}
        </p>
      )}
      {more > 0 && (
        <Button
          icon="arrow_upward"
          label={t("running.newExecutions", { count: more })}
          className="executions-new"
          onClick={showAll}
        />
      )}
      {rows === null && trouble === "" && (
        <p className="executions-note" role="status">
          {t("shared.loading")}
        </p>
      )}
      {rows?.length === 0 && <Nothing />}
      {rows !== null && rows.length > 0 && (
        <ul>
          {rows.map((row) => (
            <Row key={row.id} row={row} shown={row.id === shown} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Nothing() {
  const canRun = useStudio((state) => state.page.canRun);
  return (
    <div className="executions-none">
      <Icon name="history" />
      <p>{t("running.noExecutionsYet")}</p>
      {canRun && <Button icon="play_arrow" label={t("shell.run")} onClick={() => openRun()} />}
    </div>
  );
}

function Row({ row, shown }: { row: ExecutionSummary; shown: boolean }) {
  const linked = useStudio((state) => state.page.executionPage !== "");
  const { word, icon, colour } = markOf(row.state);
  const when = ago(row.createdAt);
  return (
    <li className={shown ? "shown" : ""}>
      <button
        type="button"
        aria-pressed={shown}
        title={clock(row.createdAt)}
        onClick={() => watch(row.id)}
      >
        <span className={`execution-state ${colour}`}>
          <Icon name={icon} />
          {word}
        </span>
        <span className="execution-took">{tookOf(row)}</span>
        <span className="execution-about">
          <time dateTime={row.createdAt}>{when}</time>
          {" · "}
          {row.test ? t("running.test") : t("running.version", { number: row.version })}
        </span>
      </button>
      {linked && (
        <a
          className="button bare"
          href={executionPageOf(row.id)}
          aria-label={t("running.openPageOf", { state: word, time: when })}
          title={t("running.openExecutionPage")}
        >
          <Icon name="open_in_new" />
        </a>
      )}
    </li>
  );
}

/** Return the duration from the start to the end or the present; "" before the start. */
function tookOf({ state, startedAt, finishedAt }: ExecutionSummary): string {
  if (startedAt === null || FINAL.has(state)) return took(startedAt, finishedAt);
  return span(Date.now() - Date.parse(startedAt));
}
