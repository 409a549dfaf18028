import type { ReactNode } from "react";
import { useState } from "react";
import { arranged } from "../document/layout";
import { read } from "../document/reading";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";
import { type Entry, entriesOf, looked } from "./entries";
import { Files } from "./Files";
import { keepReport } from "./n8n";
import { Report } from "./Report";
import "./transfer.css";

/** Replaces the open draft by a file's workflow, as one undoable edit. */
export function ReplaceDialog() {
  const [entry, setEntry] = useState<Entry | null>(null);
  const { set, workflow } = useStudio.getState();
  const close = (): void => set({ dialog: null });
  const take = (text: string, name: string): void => {
    const [found] = entriesOf(text, name);
    if (!found) return;
    setEntry(found);
    // Ignore the result if the user chose another file meanwhile.
    void looked(found, workflow?.workspaceId).then((known) =>
      setEntry((now) => (now?.key === known.key ? known : now)),
    );
  };
  const raw =
    entry?.file.kind === "workflow" ? entry.file.document : (entry?.preview?.definition ?? null);
  const replace = (): void => {
    if (!raw) return;
    useStudio.getState().edit((old) => {
      const document = read(raw, old.name);
      return arranged({ ...document, name: old.name }, useStudio.getState().types);
    });
    if (entry?.preview && workflow) keepReport(workflow.id, entry.preview.report);
    announce(t("transfer.theDraftWasReplacedCtrlZ"));
    close();
  };
  return (
    <Dialog
      title={t("transfer.importIntoThisWorkflow")}
      wide={entry?.file.kind === "n8n"}
      onClose={close}
      actions={
        <>
          <Button label={t("shared.cancel")} onClick={close} />
          <Button
            label={t("transfer.replaceTheDraft")}
            strong
            refusal={raw ? undefined : t("transfer.chooseOrPasteAWorkflowFirst")}
            onClick={replace}
          />
        </>
      }
    >
      <Files multiple={false} onText={take} />
      {entry && (
        <p className="entry-line" role={entry.says ? "alert" : "status"}>
          {entry.says ? (
            <>
              <strong>{entry.file.name}</strong> {entry.says}
            </>
          ) : (
            said(entry)
          )}
        </p>
      )}
      {entry?.preview && <Report report={entry.preview.report} />}
      <p className="subtle">{t("transfer.theNameStaysTasksConnectionsTriggers")}</p>
    </Dialog>
  );
}

function said({ state, file }: Entry): ReactNode {
  const name = <strong>{file.name}</strong>;
  if (state === "looking") return rich("transfer.isBeingRead", { file: name });
  return file.kind === "n8n"
    ? rich("transfer.isFromN8n", { file: name, count: file.nodes })
    : rich("transfer.canBeImported", { file: name });
}
