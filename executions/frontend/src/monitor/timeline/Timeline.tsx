import { IconButton } from "../pieces";
import { FILTERS } from "../rows";
import { useMonitor } from "../store";
import { Table } from "./Table";
import { setMode, toggleFollowing, zoomTime } from "./viewing";

/** The runs in time: a table with a bar a run, and what is shown in it. */
export function Timeline() {
  const mode = useMonitor((state) => state.mode);
  return (
    <section className="vk-panel vm-timeline" aria-label="Timeline">
      <div className="vm-bar">
        <h2>Timeline</h2>
        <Filters />
        <RolledBack />
        <span className="vm-space" />
        <Legend />
        <span className="vm-together">
          <IconButton
            icon="zoom_out"
            label="Zoom the time out"
            title="Zoom out (-)"
            onClick={() => zoomTime(1 / 1.5)}
          />
          <IconButton
            icon="zoom_in"
            label="Zoom the time in"
            title="Zoom in (+)"
            onClick={() => zoomTime(1.5)}
          />
          {/* biome-ignore lint/a11y/useSemanticElements: two buttons in a bar are no fieldset */}
          <span className="vm-group" role="group" aria-label="What part of the time">
            <button type="button" aria-pressed={mode === "fit"} onClick={() => setMode("fit")}>
              Fit
            </button>
            <button type="button" aria-pressed={mode === "follow"} onClick={toggleFollowing}>
              Follow now
            </button>
          </span>
        </span>
      </div>
      <Table />
    </section>
  );
}

function Filters() {
  const which = useMonitor((state) => state.which);
  return (
    // biome-ignore lint/a11y/useSemanticElements: buttons in a bar are no fieldset
    <span className="vm-group" role="group" aria-label="Which runs">
      {FILTERS.map((filter) => (
        <button
          key={filter}
          type="button"
          aria-pressed={filter === which}
          onClick={() => useMonitor.setState({ which: filter })}
        >
          {filter.charAt(0).toUpperCase() + filter.slice(1)}
        </button>
      ))}
    </span>
  );
}

/** Offered where something was rolled back. */
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
      Rolled back
    </label>
  );
}

const LEGEND = [
  ["queued", "queued"],
  ["running", "running"],
  ["waiting", "waiting"],
  ["backoff", "backing off"],
  ["critical", "critical path"],
] as const;

const Legend = () => (
  <span className="vm-legend" aria-hidden="true">
    {LEGEND.map(([kind, words]) => (
      <span key={kind}>
        <i className={`vm-part-${kind}`} />
        {words}
      </span>
    ))}
  </span>
);
