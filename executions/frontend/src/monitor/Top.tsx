/** Fills in the states, times and counts in the top bar that the server rendered. */
import { type ReactNode, useEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { type Connection, useLiveStore } from "../live/live";
import { type Mark, markOfExecution } from "../live/states";
import { Icon } from "../shared/Icon";
import { t } from "../words/t";
import { renewServed } from "./actions";
import { hintOf } from "./hints";
import { Link, StateMark } from "./pieces";
import { useMonitor, usePages, useServerTime } from "./store";
import { ago, at, stamp, took } from "./times";

const CONNECTIONS: Readonly<Record<Connection, Mark>> = {
  connecting: { word: t("monitor.connecting"), icon: "sync", colour: "grey" },
  live: { word: t("monitor.live"), icon: "sensors", colour: "green" },
  reconnecting: { word: t("monitor.reconnecting"), icon: "sync_problem", colour: "amber" },
  paused: { word: t("monitor.paused"), icon: "pause_circle", colour: "grey" },
  "signed out": { word: t("monitor.signedOut"), icon: "lock", colour: "red" },
  gone: { word: t("monitor.gone"), icon: "cloud_off", colour: "red" },
  finished: { word: t("monitor.finished"), icon: "flag", colour: "grey" },
};

/** Renders its children inside an element of the server's page. */
function In({ place, children }: { place: string; children: ReactNode }) {
  const element = document.querySelector(place);
  return element && createPortal(children, element);
}

export function Top() {
  const connection = useLiveStore((state) => state.connection);
  const execution = useLiveStore((state) => state.execution);
  const retries = useLiveStore((state) => state.retries);
  useRenewed(execution ? `${execution.state} ${execution.compensation}` : undefined);
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
        {execution && <Times />}
        {execution && retries > 0 && (
          <div>
            <dt>{t("monitor.retries")}</dt>
            <dd>{retries}</dd>
          </div>
        )}
      </In>
      <In place="[data-top=error]">
        {execution?.errorMessage && <p className="vm-error">{execution.errorMessage}</p>}
      </In>
      <In place="[data-top=dead]">
        <Dead />
      </In>
      <In place="[data-top=hint]">
        <Hint />
      </In>
    </>
  );
}

/** Load the server's part of the page again when the state changes. */
function useRenewed(state: string | undefined): void {
  const before = useRef(usePages().state);
  useEffect(() => {
    if (state === undefined || state === before.current) return;
    before.current = state;
    void renewServed();
  }, [state]);
}

function Trouble({ connection }: { connection: Connection }) {
  const pages = usePages();
  if (connection === "signed out") {
    return (
      <>
        {t("monitor.youAreSignedOutWhat")}{" "}
        <Link href={pages.signIn}>{t("monitor.signInAgain")}</Link>
      </>
    );
  }
  if (connection !== "gone") return null;
  return (
    <>
      {t("monitor.thisExecutionIsNotThere")}{" "}
      <Link href={pages.executions}>{t("monitor.allExecutions")}</Link>
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
        <dt>{t("monitor.started")}</dt>
        <dd title={started === null ? undefined : stamp(started)}>
          {execution ? (started === null ? t("monitor.notYet") : ago(started, now)) : "–"}
        </dd>
      </div>
      <div>
        <dt>{t("monitor.duration")}</dt>
        <dd>{execution ? took(ended ? length : Math.floor(length / 1000) * 1000) : "–"}</dd>
      </div>
    </>
  );
}

/** The link to the dead letters; test runs have none. */
function Dead() {
  const { test, deadLetters, execution } = usePages();
  const dead = useMonitor(
    ({ runs }) => runs.filter((run) => run.state === "DLQ" && !run.superseded).length,
  );
  if (dead === 0 || test) return null;
  return (
    <a className="vk-button vm-small vm-dead" href={deadLetters(execution)}>
      <Icon name="inbox" />
      {t("monitor.deadLetters", { count: dead })}
    </a>
  );
}

function Hint() {
  const execution = useLiveStore((state) => state.execution);
  const runs = useMonitor((state) => state.runs);
  return hintOf(execution, runs, useServerTime(1000));
}
