/** The details of a run: first those from the stream, then those from the API. */
import type { ReactNode } from "react";
import { Refused } from "../../api/client";
import type { RunShape } from "../../api/shapes";
import type { Json } from "../../document/types";
import { numberText } from "../../words/formats";
import { t } from "../../words/t";
import type { Key } from "../../words/types";
import { lengthOf, type Part, partsOf } from "../bars";
import { decisionOf } from "../pages";
import { ErrorNote, Facts, Link, Moment, Note, StateMark } from "../pieces";
import { markOfRun, type Run } from "../runs";
import { usePages, useServerTime } from "../store";
import { span, took } from "../times";
import { CopyButton, isHidden, isObject, Preformatted, Value } from "../values";
import { useFullRun } from "./asking";

export const RUN_TABS = ["Summary", "Input", "Output", "Error", "Log", "Children"] as const;
export type RunTabName = (typeof RUN_TABS)[number];

/** Tabs that can be shown with data from the stream only. */
const AT_ONCE: ReadonlySet<RunTabName> = new Set(["Summary", "Error"]);

export function RunTab({ name, run }: { name: RunTabName; run: Run }) {
  const answer = useFullRun(run);
  const refused = answer instanceof Refused ? answer : null;
  const full = answer instanceof Refused ? null : answer;
  if (refused && !AT_ONCE.has(name)) return <ErrorNote>{refused.detail}</ErrorNote>;
  return (
    <>
      {refused && <ErrorNote>{refused.detail}</ErrorNote>}
      <Content name={name} run={run} full={full} />
    </>
  );
}

interface Props {
  run: Run;
  full: RunShape | null;
}

function Content({ name, run, full }: Props & { name: RunTabName }) {
  if (name === "Summary") return <Summary run={run} full={full} />;
  if (name === "Error") return <Failure run={run} full={full} />;
  if (name === "Children") return <Children run={run} />;
  if (full === null) return <Note>{t("shared.loading")}</Note>;
  if (name === "Input") {
    const nothing = run.finishedAt === null ? "monitor.nothingWasRenderedYet" : "monitor.noInput";
    return <Value value={full.inputs} nothing={t(nothing)} />;
  }
  if (name === "Output") return <Value value={full.outputs} nothing={t("monitor.noOutput")} />;
  return <Log lines={full.logs} />;
}

const SPENT = {
  backoff: "monitor.timeBackoff",
  queued: "monitor.timeQueued",
  waiting: "monitor.timeWaiting",
  running: "monitor.timeRunning",
} as const satisfies Record<Part["kind"], Key>;

function Summary({ run, full }: Props) {
  const pages = usePages();
  const now = useServerTime(1000);
  const moment = (time: number | null): ReactNode =>
    time === null ? null : <Moment time={time} now={now} />;
  const parts = partsOf(run, now).map(({ kind, from, to }) =>
    t(SPENT[kind], { time: took(to - from) }),
  );
  const backing = run.retryAfter !== null && run.retryAfter > now;
  return (
    <>
      <Links run={run} />
      <Facts
        pairs={[
          [t("monitor.state"), <StateMark key="state" mark={markOfRun(run, now)} />],
          [t("monitor.module"), run.module],
          [t("monitor.attempt"), String(run.attempt)],
          [t("monitor.outcome"), run.outcome],
          [t("monitor.duration"), took(lengthOf(run, now))],
          [t("monitor.time"), parts.join(", ")],
          [
            t("monitor.retry"),
            backing ? t("shared.inTime", { time: span((run.retryAfter ?? now) - now) }) : null,
          ],
          [t("monitor.worker"), run.worker],
          [t("monitor.queue"), run.queue],
          [t("monitor.queued"), moment(run.queuedAt)],
          [t("monitor.started"), moment(run.startedAt)],
          [t("monitor.finishedAt"), moment(run.finishedAt)],
          [
            t("monitor.recoveries"),
            run.recoveries ? t("monitor.itsWorkerDied", { count: run.recoveries }) : null,
          ],
          [t("monitor.tokens"), full?.costTokens ? numberText(full.costTokens) : null],
          [
            t("monitor.resultOf"),
            run.cachedFrom && (
              <Link key="cached" href={pages.run(run.cachedFrom)}>
                {t("monitor.aRunBefore")}
              </Link>
            ),
          ],
          [
            t("monitor.run"),
            <Link key="run" href={pages.run(run.id)}>
              {run.id}
            </Link>,
          ],
        ]}
      />
      {full && <CopyButton text={JSON.stringify(full, null, 2)} />}
    </>
  );
}

/** The link to the page on which the user resolves the dead letter or decides on the approval. */
function Links({ run }: { run: Run }) {
  const decision = decisionOf(run, usePages());
  return (
    decision && (
      <p className="vm-links">
        <Link href={decision.href}>{t(decision.label)}</Link>
      </p>
    )
  );
}

function Failure({ run, full }: Props) {
  if (!run.error) return <Note>{t("monitor.noError")}</Note>;
  return (
    <>
      <p className="vk-error-type">{run.errorType || t("monitor.error")}</p>
      <Preformatted text={full?.error || run.error} />
      <ErrorDetails details={full?.errorDetails ?? null} />
    </>
  );
}

function ErrorDetails({ details }: { details: Json }) {
  if (isHidden(details)) return <Value value={details} />;
  if (!isObject(details)) return null;
  const { traceback, ...rest } = details;
  return (
    <>
      {traceback && (
        <>
          <h4>{t("monitor.traceback")}</h4>
          <Preformatted text={String(traceback)} />
        </>
      )}
      {Object.keys(rest).length > 0 && (
        <>
          <h4>{t("shared.details")}</h4>
          <Value value={rest} />
        </>
      )}
    </>
  );
}

const NO_LOG = t("monitor.itWroteNoLog");

function Log({ lines }: { lines: Json }) {
  if (isHidden(lines) || !Array.isArray(lines)) return <Value value={lines} nothing={NO_LOG} />;
  return <Preformatted text={lines.map(lineOf).join("\n") || NO_LOG} />;
}

function lineOf(line: Json): string {
  if (!isObject(line)) return typeof line === "string" ? line : JSON.stringify(line);
  const message = line.message ?? JSON.stringify(line);
  return [line.at ?? line.time, line.level, message].filter(Boolean).join("  ");
}

function Children({ run }: { run: Run }) {
  const pages = usePages();
  if (!run.childId) return <Note>{t("monitor.itStartedNoOtherExecution")}</Note>;
  return (
    <p>
      <Link href={pages.executionPage(run.childId)}>
        {t("monitor.watchTheExecutionItStarted", { id: run.childId })}
      </Link>
    </p>
  );
}
