import { useState } from "react";
import { arranged } from "../document/layout";
import { read } from "../document/reading";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { type Entry, entriesOf, looked } from "./entries";
import { Files } from "./Files";
import { keepReport } from "./n8n";
import { Report } from "./Report";
import "./transfer.css";

/** Puts a file's workflow in place of the open draft: one step that can be undone. */
export function ReplaceDialog() {
  const [entry, setEntry] = useState<Entry | null>(null);
  const { set, workflow } = useStudio.getState();
  const close = (): void => set({ dialog: null });
  const take = (text: string, name: string): void => {
    const [found] = entriesOf(text, name);
    if (!found) return;
    setEntry(found);
    // Another file may have been given meanwhile.
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
    announce("The draft was replaced. Ctrl+Z brings the old one back.");
    close();
  };
  return (
    <Dialog
      title="Import into this workflow"
      wide={entry?.file.kind === "n8n"}
      onClose={close}
      actions={
        <>
          <Button label="Cancel" onClick={close} />
          <Button
            label="Replace the draft"
            strong
            refusal={raw ? undefined : "Choose or paste a workflow first."}
            onClick={replace}
          />
        </>
      }
    >
      <Files multiple={false} onText={take} />
      {entry && (
        <p className="entry-line" role={entry.says ? "alert" : "status"}>
          <strong>{entry.file.name}</strong> {entry.says || said(entry)}
        </p>
      )}
      {entry?.preview && <Report report={entry.preview.report} />}
      <p className="subtle">
        The name stays; tasks, connections, triggers and settings are those of the file. Ctrl+Z
        brings the old draft back.
      </p>
    </Dialog>
  );
}

function said({ state, file }: Entry): string {
  if (state === "looking") return "is being read…";
  return file.kind === "n8n" ? `is from n8n, ${file.nodes} nodes.` : "can be imported.";
}
