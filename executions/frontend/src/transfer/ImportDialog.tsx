import { useState } from "react";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { t } from "../words/t";
import { EntryRow } from "./EntryRow";
import { type Entry, entriesOf, kept, keptBeside, looked } from "./entries";
import { Files } from "./Files";
import { WorkspaceChoice } from "./WorkspaceChoice";
import "./transfer.css";

/** Creates workflows from files: Valkyr's own, or n8n exports, with a preview of the result. */
export function ImportDialog({ home, onClose }: { home: string; onClose: () => void }) {
  const [entries, setEntries] = useState<Entry[]>([]);
  const [workspace, setWorkspace] = useState<string>();
  const put = (entry: Entry): void =>
    setEntries((old) => old.map((one) => (one.key === entry.key ? entry : one)));
  const take = (text: string, name: string): void => {
    const found = entriesOf(text, name);
    setEntries((old) => [...old, ...found]);
    for (const entry of found) void looked(entry, workspace).then(put);
  };
  const run = async (entry: Entry, how: (entry: Entry) => Promise<Entry>): Promise<Entry> => {
    put({ ...entry, state: "busy", says: "" });
    const result = await how(entry);
    put(result);
    return result;
  };
  const ready = entries.filter((entry) => entry.state === "ready");
  const create = async (): Promise<void> => {
    const results: Entry[] = [];
    // Mark all of them as busy at once, so that another click cannot create those that still wait.
    for (const entry of ready) put({ ...entry, state: "busy", says: "" });
    for (const entry of ready) {
      results.push(await run(entry, (one) => kept(one, { workspaceId: workspace })));
    }
    const made = results.filter((entry) => entry.made);
    announce(t("transfer.ofCreated", { count: made.length, all: results.length }));
    const [only] = made;
    if (entries.length === 1 && only?.made) location.assign(`${home}${only.made.id}/`);
  };
  return (
    <Dialog
      title={t("transfer.importWorkflows")}
      wide={entries.some((entry) => entry.file.kind === "n8n")}
      onClose={onClose}
      actions={
        <>
          <Button label={t("shared.close")} onClick={onClose} />
          <Button
            label={t("transfer.createDrafts", { count: Math.max(1, ready.length) })}
            icon="add"
            strong
            refusal={ready.length > 0 ? undefined : t("transfer.nothingIsReadyToBeCreated")}
            onClick={() => void create()}
          />
        </>
      }
    >
      <Files multiple onText={take} />
      <WorkspaceChoice value={workspace} onChange={setWorkspace} />
      <ul className="entries" aria-label={t("transfer.files")}>
        {entries.map((entry) => (
          <EntryRow
            key={entry.key}
            entry={entry}
            home={home}
            onReplace={() =>
              void run(entry, (one) => kept(one, { workspaceId: workspace, onConflict: "update" }))
            }
            onBeside={() => void run(entry, (one) => keptBeside(one, workspace))}
            onRemove={() => setEntries((old) => old.filter((one) => one !== entry))}
          />
        ))}
      </ul>
    </Dialog>
  );
}
