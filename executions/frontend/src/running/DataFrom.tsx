import { useEffect, useId, useState } from "react";
import { useLiveStore } from "../live/live";
import { markOf } from "../live/states";
import { unwatch, watch } from "../live/watching";
import { t } from "../words/t";
import { ago, clock } from "./ages";
import type { ExecutionSummary } from "./executions";
import { useRecent } from "./recent";
import { dropResults, useResultsStore } from "./results";

/** The choice of the execution whose data the tasks and forms show, with its age. */
export function DataFrom() {
  const { results, loading, trouble } = useResultsStore();
  const watched = useLiveStore((state) => state.watched);
  const recent = useRecent();
  const shown = watched ?? results?.executionId ?? "";
  const known = recent.some((one) => one.id === shown);
  const id = useId();
  useMinutes();
  const choose = (id: string): void => {
    if (id === "") {
      unwatch();
      dropResults();
    } else watch(id);
  };
  return (
    <span className="data-from">
      <label htmlFor={id}>{t("running.dataFrom")}</label>
      <select
        id={id}
        value={shown}
        aria-busy={loading}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">{t("running.noRun")}</option>
        {shown !== "" && !known && <option value={shown}>{unlisted(results?.createdAt)}</option>}
        {recent.map((one) => (
          <option key={one.id} value={one.id}>
            {told(one)}
          </option>
        ))}
      </select>
      {trouble !== "" && <span className="wrong">{trouble}</span>}
    </span>
  );
}

const unlisted = (createdAt: string | undefined): string =>
  createdAt ? t("running.theRun", { time: ago(createdAt) }) : t("running.thisRun");

function told(one: ExecutionSummary): string {
  const which = one.test ? t("running.test") : t("running.version", { number: one.version });
  return `${ago(one.createdAt)} · ${markOf(one.state).word} · ${which} · ${clock(one.createdAt)}`;
}

/** Render again every 30 s, so that displayed ages are correct. */
function useMinutes(): void {
  const [, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTurn((turn) => turn + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
}
