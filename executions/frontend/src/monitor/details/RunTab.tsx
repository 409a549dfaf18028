/** What the details show of a run: from the stream at once, the rest once the API told it. */
import type { ReactNode } from "react";
import { Refused } from "../../api/client";
import type { RunShape } from "../../api/shapes";
import type { Json } from "../../document/types";
import { lengthOf, partsOf } from "../bars";
import { ErrorNote, Facts, Link, Moment, Note, StateMark } from "../pieces";
import { markOfRun, type Run } from "../runs";
import { usePages, useServerTime } from "../store";
import { span, took } from "../times";
import { CopyButton, isHidden, isObject, Preformatted, Value } from "../values";
import { useFullRun } from "./asking";

export const RUN_TABS = ["Summary", "Input", "Output", "Error", "Log", "Children"] as const;
export type RunTabName = (typeof RUN_TABS)[number];

/** What the stream tells without the API. */
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
  if (full === null) return <Note>Loading…</Note>;
  if (name === "Input") return <Value value={full.inputs} nothing="Nothing was rendered yet." />;
  if (name === "Output") return <Value value={full.outputs} nothing="No output." />;
  return <Log lines={full.logs} />;
}

function Summary({ run, full }: Props) {
  const pages = usePages();
  const now = useServerTime(1000);
  const moment = (time: number | null): ReactNode =>
    time === null ? null : <Moment time={time} now={now} />;
  const parts = partsOf(run, now).map(
    ({ kind, from, to }) => `${kind === "backoff" ? "backed off" : kind} ${took(to - from)}`,
  );
  const backing = run.retryAfter !== null && run.retryAfter > now;
  return (
    <>
      <Links run={run} />
      <Facts
        pairs={[
          ["State", <StateMark key="state" mark={markOfRun(run, now)} />],
          ["Module", run.module],
          ["Attempt", String(run.attempt)],
          ["Outcome", run.outcome],
          ["Duration", took(lengthOf(run, now))],
          ["Time", parts.join(", ")],
          ["Retry", backing ? `in ${span((run.retryAfter ?? now) - now)}` : null],
          ["Worker", run.worker],
          ["Queue", run.queue],
          ["Queued", moment(run.queuedAt)],
          ["Started", moment(run.startedAt)],
          ["Finished", moment(run.finishedAt)],
          ["Recoveries", run.recoveries ? `${run.recoveries}, its worker died` : null],
          ["Tokens", full?.costTokens ? full.costTokens.toLocaleString("en") : null],
          [
            "Result of",
            run.cachedFrom && (
              <Link key="cached" href={pages.run(run.cachedFrom)}>
                a run before
              </Link>
            ),
          ],
          [
            "Run",
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

/** Where what needs somebody is done. */
function Links({ run }: { run: Run }) {
  const pages = usePages();
  if (run.state === "DLQ") {
    return (
      <p className="vm-links">
        <Link href={pages.deadLetters(run.id)}>Its dead letter: retry, fix or discard</Link>
      </p>
    );
  }
  if (run.state !== "WAITING" || run.waitsFor !== "approval") return null;
  return (
    <p className="vm-links">
      <Link href={pages.approval(run.id)}>Decide on the approval</Link>
    </p>
  );
}

function Failure({ run, full }: Props) {
  if (!run.error) return <Note>No error.</Note>;
  return (
    <>
      <p className="vk-error-type">{run.errorType || "Error"}</p>
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
          <h4>Traceback</h4>
          <Preformatted text={String(traceback)} />
        </>
      )}
      {Object.keys(rest).length > 0 && (
        <>
          <h4>Details</h4>
          <Value value={rest} />
        </>
      )}
    </>
  );
}

const NO_LOG = "It wrote no log.";

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
  if (!run.childId) return <Note>It started no other execution.</Note>;
  return (
    <p>
      <Link href={pages.monitor(run.childId)}>Watch the execution it started, {run.childId}</Link>
    </p>
  );
}
