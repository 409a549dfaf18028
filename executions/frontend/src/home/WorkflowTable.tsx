import type { WorkflowSummary } from "../api/shapes";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { momentText } from "../words/formats";
import { rich } from "../words/rich";
import { t } from "../words/t";
import { relative } from "./times";
import type { Listed } from "./workflows";

/** The workflows with their state, version and time of the last change. */
export function WorkflowTable({ listed, home }: { listed: Listed; home: string }) {
  const { rows, trouble, more, again } = listed;
  if (trouble) {
    return (
      <div role="alert" className="home-empty">
        <p>{t("home.theWorkflowsCouldNotBeLoaded", { reason: trouble })}</p>
        <Button icon="refresh" label={t("shared.tryAgain")} onClick={again} />
      </div>
    );
  }
  if (rows === null) return <p role="status">{t("home.loadingTheWorkflows")}</p>;
  if (rows.length === 0) return <p role="status">{t("home.noWorkflowsNameBegins")}</p>;
  return (
    <>
      <table className="workflows">
        <thead>
          <tr>
            {[t("home.name"), t("home.state"), t("home.published"), t("home.changed")].map(
              (head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} home={home} />
          ))}
        </tbody>
      </table>
      {more && <Button label={t("home.showMore")} onClick={more} />}
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
          <small>{rich("home.fromCode", { origin: <code>{row.origin}</code> })}</small>
        )}
      </th>
      <td data-label={t("home.state")}>
        <span className={`standing ${row.enabled ? "green" : "grey"}`}>
          <Icon name={row.enabled ? "check_circle" : "pause_circle"} />
          {t(row.enabled ? "home.enabled" : "home.paused")}
        </span>
      </td>
      <td data-label={t("home.published")}>
        {row.latestVersion === null ? (
          <span className="subtle">{t("home.draftOnly")}</span>
        ) : (
          t("home.version", { number: row.latestVersion })
        )}
      </td>
      <td data-label={t("home.changed")}>
        <time dateTime={row.updatedAt} title={momentText(new Date(row.updatedAt))}>
          {relative(row.updatedAt, Date.now())}
        </time>
      </td>
    </tr>
  );
}
