/** The bar at the top, which the server draws: its states, times and counts are filled in here. */
import { type ReactNode, useEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { type Connection, useLiveStore } from "../live/live";
import { type Mark, markOfExecution } from "../live/states";
import { Icon } from "../shared/Icon";
import { renewActions } from "./actions";
import { hintOf } from "./hints";
import { Link, StateMark } from "./pieces";
import { useMonitor, usePages, useServerTime } from "./store";
import { ago, at, stamp, took } from "./times";

const CONNECTIONS: Readonly<Record<Connection, Mark>> = {
  connecting: { word: "connecting", icon: "sync", colour: "grey" },
  live: { word: "live", icon: "sensors", colour: "green" },
  reconnecting: { word: "reconnecting", icon: "sync_problem", colour: "amber" },
  paused: { word: "paused", icon: "pause_circle", colour: "grey" },
  "signed out": { word: "signed out", icon: "lock", colour: "red" },
  gone: { word: "gone", icon: "cloud_off", colour: "red" },
  finished: { word: "finished", icon: "flag", colour: "grey" },
};

/** Something in a place of the server's page. */
function In({ place, children }: { place: string; children: ReactNode }) {
  const element = document.querySelector(place);
  return element && createPortal(children, element);
}

export function Top() {
  const connection = useLiveStore((state) => state.connection);
  const execution = useLiveStore((state) => state.execution);
  const retries = useLiveStore((state) => state.retries);
  const help = (): void => useMonitor.setState({ help: true });
  useRenewedActions(execution ? `${execution.state} ${execution.compensation}` : undefined);
  return (
    <>
      <In place="[data-top=state]">
        {execution && <StateMark mark={markOfExecution(execution)} />}
      </In>
      <In place="[data-top=connection]">
        <StateMark mark={CONNECTIONS[connection]} />
      </In>
      <In place="[data-top=note]">
        <Trouble connection={connection} />
      </In>
      <In place="[data-top=times]">
        <Times />
        <div>
          <dt>Retries</dt>
          <dd>{execution ? retries : "–"}</dd>
        </div>
      </In>
      <In place="[data-top=dead]">
        <Dead />
      </In>
      <In place="[data-top=keys]">
        <button
          type="button"
          className="vm-button"
          aria-label="Keys"
          title="Keys (?)"
          onClick={help}
        >
          <Icon name="keyboard" />
        </button>
      </In>
      <In place="[data-hint]">
        <Hint />
      </In>
    </>
  );
}

/** The server draws the buttons anew once the state is another one. */
function useRenewedActions(state: string | undefined): void {
  const before = useRef(state);
  useEffect(() => {
    if (before.current !== undefined && before.current !== state) renewActions();
    before.current = state;
  }, [state]);
}

function Trouble({ connection }: { connection: Connection }) {
  const pages = usePages();
  if (connection === "signed out") {
    return (
      <>
        You are signed out; what is shown here is no longer renewed.{" "}
        <Link href={pages.signIn}>Sign in again</Link>
      </>
    );
  }
  if (connection !== "gone") return null;
  return (
    <>
      This execution is not there any more, or not for you.{" "}
      <Link href={pages.executions}>All executions</Link>
    </>
  );
}

function Times() {
  const execution = useLiveStore((state) => state.execution);
  const now = useServerTime(1000);
  const started = at(execution?.startedAt);
  const ended = at(execution?.finishedAt);
  const length = (ended ?? now) - (started ?? at(execution?.createdAt) ?? now);
  return (
    <>
      <div>
        <dt>Started</dt>
        <dd title={started === null ? undefined : stamp(started)}>
          {execution ? (started === null ? "not yet" : ago(started, now)) : "–"}
        </dd>
      </div>
      <div>
        <dt>Elapsed</dt>
        <dd>{execution ? took(ended ? length : Math.floor(length / 1000) * 1000) : "–"}</dd>
      </div>
    </>
  );
}

/** What is dead in a test run has no dead letter. */
function Dead() {
  const { test, deadLetters, execution } = usePages();
  const dead = useMonitor(
    ({ runs }) => runs.filter((run) => run.state === "DLQ" && !run.superseded).length,
  );
  if (dead === 0 || test) return null;
  return (
    <a className="vk-button vm-small vm-dead" href={deadLetters(execution)}>
      <Icon name="inbox" />
      {`Dead letters (${dead})`}
    </a>
  );
}

function Hint() {
  const execution = useLiveStore((state) => state.execution);
  const runs = useMonitor((state) => state.runs);
  return hintOf(execution, runs, useServerTime(1000));
}
