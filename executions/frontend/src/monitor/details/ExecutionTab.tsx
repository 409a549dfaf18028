/**
 * The details of the execution while no run is selected, and the reason if it does not progress.
 */
import { Refused } from "../../api/client";
import type { Explanation, Reason } from "../../api/shapes";
import type { Json } from "../../document/types";
import { useLiveStore } from "../../live/live";
import { markOf, NOT_BEGUN } from "../../live/states";
import { rich } from "../../words/rich";
import { t } from "../../words/t";
import { ErrorNote, Facts, Link, Moment, Note, StateMark } from "../pieces";
import { choose } from "../selecting";
import { useMonitor, usePages, useServerTime } from "../store";
import { at } from "../times";
import { Value } from "../values";
import { type Asked, useAnswer } from "./asking";

export const EXECUTION_TABS = ["Overview", "Why", "Variables", "Output", "Children"] as const;
export type ExecutionTabName = (typeof EXECUTION_TABS)[number];

const STEPS = 50;
/** Time between requests for the reasons, in milliseconds. */
const WHY_AGAIN = 5000;

export function ExecutionTab({ name }: { name: ExecutionTabName }) {
  if (name === "Overview") return <Overview />;
  if (name === "Why") return <Why />;
  if (name === "Children") return <Children />;
  return <Payload key={name} name={name} />;
}

/** The execution's input and output, and properties that are not among the facts below. */
function Overview() {
  const execution = useLiveStore((state) => state.execution);
  const more = useMonitor((state) => state.more);
  const pages = usePages();
  const now = useServerTime(1000);
  const payloads = usePayloads();
  if (execution === null) return <Note>{t("shared.loading")}</Note>;
  const over = execution.finishedAt !== null;
  const deadline = over ? null : at(execution.deadlineAt);
  return (
    <>
      <Facts
        pairs={[
          [t("monitor.endsAs"), over || !execution.ending ? null : markOf(execution.ending).word],
          [t("monitor.deadline"), deadline && <Moment key="due" time={deadline} now={now} />],
        ]}
      />
      <h3>{t("monitor.tabInput")}</h3>
      <Told payloads={payloads} of="triggerPayload" nothing={t("monitor.noInput")} />
      {over && <h3>{t("monitor.tabOutput")}</h3>}
      {over && <Told payloads={payloads} of="output" nothing={t("monitor.noOutput")} />}
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

/** The reasons why the execution does not progress, loaded repeatedly. */
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
  triggerPayload: Json;
  contextData: Json;
  output: Json;
}

/** Load the payloads; load them again when the execution's state changes. */
function usePayloads(): Asked<Payloads> {
  const { execution } = usePages();
  return useAnswer<Payloads>(`v1/WorkflowExecution/${execution}`, useStateName());
}

interface ToldProps {
  payloads: Asked<Payloads>;
  of: keyof Payloads;
  nothing: string;
}

function Told({ payloads, of, nothing }: ToldProps) {
  if (payloads === null) return <Note>{t("shared.loading")}</Note>;
  if (payloads instanceof Refused) return <ErrorNote>{payloads.detail}</ErrorNote>;
  return <Value value={payloads[of]} nothing={nothing} />;
}

function Payload({ name }: { name: "Variables" | "Output" }) {
  const over = useLiveStore((state) => state.execution?.finishedAt != null);
  const of = name === "Variables" ? "contextData" : "output";
  const nothing = t(over ? "monitor.noOutput" : "monitor.noOutputYet");
  return <Told payloads={usePayloads()} of={of} nothing={nothing} />;
}

function Children() {
  const { children } = usePages();
  return (
    <p>
      <Link href={children}>{t("monitor.theExecutionsThatItStarted")}</Link>
    </p>
  );
}
