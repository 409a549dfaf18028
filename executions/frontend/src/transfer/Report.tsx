import { Dialog } from "../shared/Dialog";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { keptReport, type N8nReport, type N8nRow, type N8nStatus } from "./n8n";

const MARKS: Record<N8nStatus, [icon: string, colour: string, says: string]> = {
  mapped: ["check_circle", "green", "does the same"],
  changed: ["change_circle", "amber", "look at it"],
  left: ["cancel", "red", "to be replaced"],
};

/** What became of each node of an n8n workflow, and what is still to be made. */
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
      <section className="report-table" aria-label="Nodes" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Became</th>
              <th scope="col">Status</th>
              <th scope="col">Remarks</th>
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
          <span className="subtle">nothing</span>
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
  const [icon, colour, says] = MARKS[status];
  return (
    <span className={`report-status ${colour}`} title={says}>
      <Icon name={icon} />
      {status}
    </span>
  );
}

function ToCreate({ report }: { report: N8nReport }) {
  const { credentials, variables, workflows } = report.toCreate;
  if (credentials.length + variables.length + workflows.length === 0) return null;
  return (
    <>
      <h3>To create before it runs</h3>
      <ul>
        {credentials.map((one) => (
          <li key={one.name}>
            Credential <strong>{one.name}</strong> of type {one.type}, was {one.was}
          </li>
        ))}
        {variables.map((one) => (
          <li key={one.name}>
            Variable <strong>{one.name}</strong>, read by {one.nodes.join(", ")}
          </li>
        ))}
        {workflows.map((one) => (
          <li key={one.slug}>
            Workflow <strong>{one.slug}</strong>, was {one.was}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The report of how the open workflow was imported. */
export function ReportDialog() {
  const id = useStudio((state) => state.workflow?.id ?? "");
  const close = (): void => useStudio.getState().set({ dialog: null });
  const report = keptReport(id);
  return (
    <Dialog title="Report of the import" wide onClose={close}>
      {report ? <Report report={report} /> : <p>This workflow was not imported in this tab.</p>}
    </Dialog>
  );
}
