import { t } from "../../words/t";
import type { Key } from "../../words/types";
import { IconButton } from "../pieces";
import { FILTERS, type Filter } from "../rows";
import { useMonitor } from "../store";
import { Table } from "./Table";
import { setMode, toggleFollowing, zoomTime } from "./viewing";

/** The timeline: a table with a bar for each run, and its filters and buttons. */
export function Timeline() {
  const mode = useMonitor((state) => state.mode);
  return (
    <section className="vk-panel vm-timeline" aria-label={t("monitor.timeline")}>
      <div className="vm-bar">
        <h2>{t("monitor.timeline")}</h2>
        <Filters />
        <RolledBack />
        <span className="vm-space" />
        <Legend />
        <span className="vm-together">
          <IconButton
            icon="zoom_out"
            label={t("monitor.zoomTheTimeOut")}
            title={t("monitor.zoomOutByKey")}
            onClick={() => zoomTime(1 / 1.5)}
          />
          <IconButton
            icon="zoom_in"
            label={t("monitor.zoomTheTimeIn")}
            title={t("monitor.zoomInByKey")}
            onClick={() => zoomTime(1.5)}
          />
          {/* biome-ignore lint/a11y/useSemanticElements: two buttons in a bar are no fieldset */}
          <span className="vm-group" role="group" aria-label={t("monitor.whatPartOfTheTime")}>
            <button type="button" aria-pressed={mode === "fit"} onClick={() => setMode("fit")}>
              {t("monitor.fit")}
            </button>
            <button type="button" aria-pressed={mode === "follow"} onClick={toggleFollowing}>
              {t("monitor.followNow")}
            </button>
          </span>
        </span>
      </div>
      <Table />
    </section>
  );
}

const NAMES = {
  all: "monitor.filterAll",
  failed: "monitor.filterFailed",
  running: "monitor.filterRunning",
  slowest: "monitor.filterSlowest",
} as const satisfies Record<Filter, Key>;

function Filters() {
  const which = useMonitor((state) => state.which);
  return (
    // biome-ignore lint/a11y/useSemanticElements: buttons in a bar are no fieldset
    <span className="vm-group" role="group" aria-label={t("monitor.whichRuns")}>
      {FILTERS.map((filter) => (
        <button
          key={filter}
          type="button"
          aria-pressed={filter === which}
          onClick={() => useMonitor.setState({ which: filter })}
        >
          {t(NAMES[filter])}
        </button>
      ))}
    </span>
  );
}

/** A checkbox that shows runs that were rolled back, if there are any. */
function RolledBack() {
  const some = useMonitor(({ runs }) => runs.some((run) => run.superseded));
  const shown = useMonitor((state) => state.rolledBack);
  if (!some) return null;
  return (
    <label>
      <input
        type="checkbox"
        checked={shown}
        onChange={(event) => useMonitor.setState({ rolledBack: event.target.checked })}
      />{" "}
      {t("monitor.rolledBack")}
    </label>
  );
}

const LEGEND = [
  ["queued", "monitor.partQueued"],
  ["running", "monitor.partRunning"],
  ["waiting", "monitor.partWaiting"],
  ["backoff", "monitor.partBackoff"],
  ["critical", "monitor.partCritical"],
] as const;

const Legend = () => (
  <span className="vm-legend" aria-hidden="true">
    {LEGEND.map(([kind, words]) => (
      <span key={kind}>
        <i className={`vm-part-${kind}`} />
        {t(words)}
      </span>
    ))}
  </span>
);
