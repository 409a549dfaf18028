import { useEffect, useState } from "react";
import type { ExecutionRow } from "../live/frames";
import { type Connection, useLiveStore } from "../live/live";
import { FINAL, markOf } from "../live/states";
import { unwatch } from "../live/watching";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { span } from "./ages";
import { CancelRun } from "./CancelRun";
import { DataFrom } from "./DataFrom";
import { ForkNotice } from "./ForkNotice";
import { executionPageOf } from "./links";
import { useResults } from "./results";
import "./running.css";
import { VersionNotice } from "./VersionNotice";

/** The displayed execution at the bottom of the canvas: its progress, and actions for it. */
export function RunBar() {
  const { results } = useResults();
  const watched = useLiveStore((state) => state.watched);
  const execution = useLiveStore((state) => state.execution);
  const shown = watched ?? results?.executionId ?? null;
  return (
    <section className="runbar" aria-label={t("running.run")}>
      <ForkNotice />
      <VersionNotice />
      <div className="runbar-line">
        {watched !== null && <Progress execution={execution} />}
        <DataFrom />
        {watched !== null && execution && !FINAL.has(execution.state) && (
          <CancelRun execution={watched} />
        )}
        {shown !== null && (
          <a className="button bare" href={executionPageOf(shown)}>
            <Icon name="monitoring" />
            {t("running.openExecutionPage")}
          </a>
        )}
        {watched !== null && (
          <Button icon="close" label={t("running.stopWatching")} bare onClick={unwatch} />
        )}
      </div>
    </section>
  );
}

function Progress({ execution }: { execution: ExecutionRow | null }) {
  const connection = useLiveStore((state) => state.connection);
  const retries = useLiveStore((state) => state.retries);
  const mark = execution && markOf(execution.state);
  return (
    <>
      <span
        className={`pill run-pill ${mark?.colour ?? "grey"}`}
        role="status"
        aria-label={t("running.runState")}
      >
        <Icon name={mark?.icon ?? "hourglass_empty"} />
        {mark?.word ?? t("running.starting")}
      </span>
      {execution && <Elapsed execution={execution} />}
      {retries > 0 && <span className="quiet">{t("running.retries", { count: retries })}</span>}
      <Trouble connection={connection} />
    </>
  );
}

/** The duration from the start to the end or the present, by the server's clock. */
function Elapsed({ execution }: { execution: ExecutionRow }) {
  const skew = useLiveStore((state) => state.skew);
  const [now, setNow] = useState(Date.now);
  const ended = execution.finishedAt;
  useEffect(() => {
    if (ended) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [ended]);
  const from = Date.parse(execution.startedAt ?? execution.createdAt);
  const to = ended ? Date.parse(ended) : now + skew;
  return <span className="quiet elapsed">{span(to - from)}</span>;
}

const TROUBLES: Partial<Record<Connection, string>> = {
  reconnecting: t("running.reconnecting"),
  "signed out": t("running.signedOutSignInAgain"),
  gone: t("running.thisRunIsNoLongerThere"),
};

/** A problem with the connection; nothing if the connection works. */
function Trouble({ connection }: { connection: Connection }) {
  const text = TROUBLES[connection];
  const signIn = useStudio((state) => state.page.signIn);
  if (!text) return null;
  return (
    <span className="quiet wrong" role="status">
      {text} {connection === "signed out" && <a href={signIn}>{t("running.signIn")}</a>}
    </span>
  );
}
