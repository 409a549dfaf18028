import { Dialog } from "../shared/Dialog";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";
import { keptReport, type N8nReport, type N8nRow, type N8nStatus } from "./n8n";

const MARKS: Record<N8nStatus, [icon: string, colour: string, word: string, says: string]> = {
  mapped: ["check_circle", "green", t("transfer.mapped"), t("transfer.doesTheSame")],
  changed: ["change_circle", "amber", t("transfer.changed"), t("transfer.lookAt")],
  left: ["cancel", "red", t("transfer.left"), t("transfer.toBeReplaced")],
};

/** The result for each node of an n8n workflow, and what the user still has to create. */
export function Report({ report }: { report: N8nReport }) {
  const { rows, counts, remarks } = report;
  return (
    <div className="report">
      <p className="report-counts">
        {(Object.keys(MARKS) as N8nStatus[]).map((status) => (
          <span key={status}>
            <Status status={status} /> {counts[status]}
          </span>
        ))}
      </p>
      {remarks.map((remark) => (
        <p key={remark}>{remark}</p>
      ))}
      <ToCreate report={report} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className="report-table" aria-label={t("transfer.nodes")} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("transfer.node")}</th>
              <th scope="col">{t("transfer.became")}</th>
              <th scope="col">{t("transfer.status")}</th>
              <th scope="col">{t("transfer.remarks")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows never change places
              <ReportRow key={at} row={row} />
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function ReportRow({ row }: { row: N8nRow }) {
  return (
    <tr>
      <th scope="row">
        {row.node}
        <code>{row.nodeType.replace(/^.*nodes-(base|langchain)\./, "")}</code>
      </th>
      <td>
        {row.became ? (
          <>
            {row.became.task ?? row.became.module}
            {row.became.task && <code>{row.became.module}</code>}
          </>
        ) : (
          <span className="subtle">{t("transfer.nothing")}</span>
        )}
      </td>
      <td>
        <Status status={row.status} />
      </td>
      <td>
        {row.remarks.length > 0 && (
          <ul>
            {row.remarks.map((remark) => (
              <li key={remark}>{remark}</li>
            ))}
          </ul>
        )}
      </td>
    </tr>
  );
}

function Status({ status }: { status: N8nStatus }) {
  const [icon, colour, word, says] = MARKS[status];
  return (
    <span className={`report-status ${colour}`} title={says}>
      <Icon name={icon} />
      {word}
    </span>
  );
}

function ToCreate({ report }: { report: N8nReport }) {
  const { credentials, variables, workflows } = report.toCreate;
  if (credentials.length + variables.length + workflows.length === 0) return null;
  return (
    <>
      <h3>{t("transfer.toCreateBeforeItRuns")}</h3>
      <ul>
        {credentials.map((one) => (
          <li key={one.name}>
            {rich("transfer.credentialToCreate", {
              name: <strong>{one.name}</strong>,
              type: one.type,
              was: one.was,
            })}
          </li>
        ))}
        {variables.map((one) => (
          <li key={one.name}>
            {rich("transfer.variableToCreate", {
              name: <strong>{one.name}</strong>,
              nodes: one.nodes.join(", "),
            })}
          </li>
        ))}
        {workflows.map((one) => (
          <li key={one.slug}>
            {rich("transfer.workflowToCreate", {
              name: <strong>{one.slug}</strong>,
              was: one.was,
            })}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The import report of the open workflow. */
export function ReportDialog() {
  const id = useStudio((state) => state.workflow?.id ?? "");
  const close = (): void => useStudio.getState().set({ dialog: null });
  const report = keptReport(id);
  return (
    <Dialog title={t("shell.reportOfTheImport")} wide onClose={close}>
      {report ? <Report report={report} /> : <p>{t("transfer.thisWorkflowWasNotImported")}</p>}
    </Dialog>
  );
}
