import type { WorkflowSummary } from "../api/shapes";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { relative } from "./times";
import type { Listed } from "./workflows";

/** The workflows with what one wants to know before opening one. */
export function WorkflowTable({ listed, home }: { listed: Listed; home: string }) {
  const { rows, trouble, more, again } = listed;
  if (trouble) {
    return (
      <div role="alert" className="home-empty">
        <p>The workflows could not be loaded. {trouble}</p>
        <Button icon="refresh" label="Try again" onClick={again} />
      </div>
    );
  }
  if (rows === null) return <p role="status">Loading the workflows…</p>;
  if (rows.length === 0) return <p role="status">No workflow's name begins so.</p>;
  return (
    <>
      <table className="workflows">
        <thead>
          <tr>
            {["Name", "State", "Published", "Changed"].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} home={home} />
          ))}
        </tbody>
      </table>
      {more && <Button label="Show more" onClick={more} />}
    </>
  );
}

function Row({ row, home }: { row: WorkflowSummary; home: string }) {
  return (
    <tr>
      <th scope="row">
        <a href={`${home}${row.id}/`}>{row.name}</a>
        {row.description && <small>{row.description}</small>}
        {row.origin && (
          <small>
            from code: <code>{row.origin}</code>
          </small>
        )}
      </th>
      <td data-label="State">
        <span className={`standing ${row.enabled ? "green" : "grey"}`}>
          <Icon name={row.enabled ? "check_circle" : "pause_circle"} />
          {row.enabled ? "enabled" : "paused"}
        </span>
      </td>
      <td data-label="Published">
        {row.latestVersion === null ? (
          <span className="subtle">draft only</span>
        ) : (
          `version ${row.latestVersion}`
        )}
      </td>
      <td data-label="Changed">
        <time dateTime={row.updatedAt} title={new Date(row.updatedAt).toString()}>
          {relative(row.updatedAt, Date.now())}
        </time>
      </td>
    </tr>
  );
}
