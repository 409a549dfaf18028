/** What the details show while no run is selected: the execution, and why it does not go on. */
import type { ReactNode } from "react";
import { Refused } from "../../api/client";
import type { Explanation, Reason } from "../../api/shapes";
import type { Json } from "../../document/types";
import { useLiveStore } from "../../live/live";
import { markOf, markOfExecution, NOT_BEGUN } from "../../live/states";
import { rich } from "../../words/rich";
import { t } from "../../words/t";
import { ErrorNote, Facts, Link, Moment, Note, StateMark } from "../pieces";
import { choose } from "../selecting";
import { useMonitor, usePages, useServerTime } from "../store";
import { at } from "../times";
import { Value } from "../values";
import { useAnswer } from "./asking";

export const EXECUTION_TABS = ["Overview", "Why", "Variables", "Output", "Children"] as const;
export type ExecutionTabName = (typeof EXECUTION_TABS)[number];

const STEPS = 50;
/** The reasons are asked for this often, in milliseconds. */
const WHY_AGAIN = 5000;

export function ExecutionTab({ name }: { name: ExecutionTabName }) {
  if (name === "Overview") return <Overview />;
  if (name === "Why") return <Why />;
  if (name === "Children") return <Children />;
  return <Payload key={name} name={name} />;
}

function Overview() {
  const execution = useLiveStore((state) => state.execution);
  const more = useMonitor((state) => state.more);
  const pages = usePages();
  const now = useServerTime(1000);
  if (execution === null) return <Note>{t("shared.loading")}</Note>;
  const moment = (text: string | null): ReactNode => {
    const time = at(text);
    return time === null ? null : <Moment time={time} now={now} />;
  };
  return (
    <>
      {execution.errorMessage && <p className="vm-error">{execution.errorMessage}</p>}
      <Facts
        pairs={[
          [t("monitor.state"), <StateMark key="state" mark={markOfExecution(execution)} />],
          [
            t("monitor.endsAs"),
            execution.finishedAt === null && execution.ending ? execution.ending : null,
          ],
          [t("monitor.created"), moment(execution.createdAt)],
          [t("monitor.started"), moment(execution.startedAt)],
          [t("monitor.finishedAt"), moment(execution.finishedAt)],
          [
            t("monitor.deadline"),
            execution.finishedAt === null ? moment(execution.deadlineAt) : null,
          ],
          [t("monitor.priority"), String(execution.priority)],
          [t("monitor.rolledBack"), execution.epoch ? `${execution.epoch}×` : null],
        ]}
      />
      {more && (
        <Note>
          {t("monitor.thereAreMoreRunsThan")}{" "}
          <Link href={pages.runs}>{t("monitor.allRunsAsAList")}</Link>
        </Note>
      )}
      <Note>{t("monitor.selectATaskOrA")}</Note>
    </>
  );
}

const useStateName = (): string => useLiveStore((state) => state.execution?.state ?? "");

/** The reasons why it does not go on, asked for again and again. */
function Why() {
  const pages = usePages();
  const now = useServerTime(1000);
  const address = `v1/WorkflowExecution/${pages.execution}/explain`;
  const found = useAnswer<Explanation>(address, useStateName(), WHY_AGAIN);
  if (found === null) return <Note>{t("shared.loading")}</Note>;
  if (found instanceof Refused) return <ErrorNote>{found.detail}</ErrorNote>;
  const steps = found.steps.slice(0, STEPS);
  return (
    <>
      <p className="vm-why">
        {found.reason.message} <Until reason={found.reason} now={now} />
      </p>
      <ul className="vm-reasons">
        {steps.map((step) => (
          <Step key={`${step.path} ${step.runId}`} step={step} now={now} />
        ))}
      </ul>
      {(found.truncated || found.steps.length > STEPS) && (
        <Note>{t("monitor.onlyTheFirstStepsAre", { count: STEPS })}</Note>
      )}
      <Note>
        {t("monitor.askedAgainEvery5Seconds")}{" "}
        <Link href={pages.runners}>{t("monitor.workers")}</Link>
      </Note>
    </>
  );
}

function Step({ step, now }: { step: Explanation["steps"][number]; now: number }) {
  const { path, runId, state, reason } = step;
  return (
    <li>
      {runId ? (
        <button type="button" className="vm-link" onClick={() => choose({ run: runId })}>
          {path}
        </button>
      ) : (
        <span className="vk-mono">{path}</span>
      )}{" "}
      <StateMark mark={state ? markOf(state) : NOT_BEGUN} />
      <p>
        {reason.message} <Until reason={reason} now={now} />
      </p>
    </li>
  );
}

function Until({ reason, now }: { reason: Reason; now: number }) {
  const time = at(reason.until);
  if (time === null) return null;
  return (
    <span className="vk-subtle">
      {rich("monitor.until", { time: <Moment time={time} now={now} /> })}
    </span>
  );
}

interface Payloads {
  contextData: Json;
  output: Json;
}

function Payload({ name }: { name: "Variables" | "Output" }) {
  const { execution } = usePages();
  const found = useAnswer<Payloads>(`v1/WorkflowExecution/${execution}`, useStateName());
  if (found === null) return <Note>{t("shared.loading")}</Note>;
  if (found instanceof Refused) return <ErrorNote>{found.detail}</ErrorNote>;
  if (name === "Variables") return <Value value={found.contextData} />;
  return <Value value={found.output} nothing={t("monitor.noOutputYet")} />;
}

function Children() {
  const { children } = usePages();
  return (
    <p>
      <Link href={children}>{t("monitor.theExecutionsThatItStarted")}</Link>
    </p>
  );
}
