import { useCallback, useEffect, useState } from "react";
import { wordsOf } from "../api/client";
import { getWorkflow } from "../api/workflows";
import { Comparison } from "../diff/Comparison";
import { read } from "../document/reading";
import type { Definition } from "../document/types";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { useDocument, useStudio } from "../store/studio";
import { copyName, createFree } from "../transfer/creating";
import { t } from "../words/t";
import { timeOf } from "./Banners";
import { forget } from "./kept";
import { takeTheirs } from "./restoring";
import { type Conflict, useKeeping } from "./state";
import { send } from "./useSaving";

/** The draft on the server, with the ETag that is needed to overwrite it. */
interface Theirs {
  document: Definition;
  etag: string;
}

/**
 * Shown if somebody else saved the draft: the user can compare, take the other draft, save a copy,
 * or deliberately overwrite.
 */
export function ConflictDialog() {
  const conflict = useKeeping((state) => state.conflict);
  const mine = useDocument();
  const [theirs, setTheirs] = useState<Theirs | null>(null);
  const [comparing, setComparing] = useState(false);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const close = (): void => useStudio.getState().set({ dialog: null });
  const look = useCallback(() => {
    readTheirs().then(setTheirs, (refused: unknown) => setError(wordsOf(refused)));
  }, []);
  useEffect(look, [look]);
  const act = (what: () => Promise<void>) => (): void => {
    if (busy) return;
    setBusy(true);
    setError("");
    what()
      .then(close, (refused: unknown) => {
        setError(wordsOf(refused));
        look(); // The other draft may have changed again.
      })
      .finally(() => setBusy(false));
  };
  return (
    <Dialog
      title={t("saving.somebodyElseChangedThisDraft")}
      wide={comparing}
      onClose={close}
      actions={
        <>
          {comparing && theirs && <Overwrite onOverwrite={act(() => send(theirs.etag))} />}
          <span className="space" />
          {!comparing && (
            <Button
              label={t("saving.compare")}
              icon="difference"
              refusal={theirs ? undefined : t("saving.theOtherDraftIsBeingRead")}
              onClick={() => setComparing(true)}
            />
          )}
          <Button label={t("saving.reloadTheirs")} icon="refresh" onClick={act(takeTheirs)} />
          <Button
            label={t("saving.saveMineAsACopy")}
            icon="file_copy"
            strong
            onClick={act(saveAsCopy)}
          />
        </>
      }
    >
      <p>{t("saving.nothingWasOverwrittenAndYourChanges", { who: sentenceOf(conflict) })}</p>
      <p className="dialog-hint">{t("saving.reloadingTheirsKeepsYoursOneUndo")}</p>
      {error !== "" && (
        <p className="dialog-failure" role="alert">
          {error}
        </p>
      )}
      {comparing && theirs && (
        <Comparison
          before={theirs.document}
          after={mine}
          beforeName={t("saving.theirsAsItIsSaved")}
          afterName={t("saving.mine")}
        />
      )}
    </Dialog>
  );
}

/**
 * Asks for a confirmation before it overwrites another user's changes; shown after a comparison.
 */
function Overwrite({ onOverwrite }: { onOverwrite: () => void }) {
  const [sure, setSure] = useState(false);
  return (
    <>
      <label className="conflict-confirm">
        <input type="checkbox" checked={sure} onChange={(event) => setSure(event.target.checked)} />
        {t("saving.iHaveSeenWhatWould")}
      </label>
      <Button
        label={t("saving.overwriteTheirs")}
        icon="warning"
        refusal={sure ? undefined : t("saving.confirmFirstThatYouHaveSeen")}
        onClick={onOverwrite}
      />
    </>
  );
}

async function readTheirs(): Promise<Theirs | null> {
  const id = useStudio.getState().workflow?.id;
  if (id === undefined) return null;
  const { data, etag } = await getWorkflow(id);
  return { document: read(data.definition, data.name), etag: etag ?? "" };
}

/** Save the document as a new workflow, and open it. */
async function saveAsCopy(): Promise<void> {
  const { workflow, history, page } = useStudio.getState();
  if (!workflow) return;
  const name = copyName(history.present.name);
  const made = await createFree(name, history.present, workflow.workspaceId);
  forget(workflow.id);
  // The copy has all changes, so the browser must not warn about unsaved work.
  useStudio.setState({ stored: history.present, saving: "saved" });
  location.assign(`${page.home}${made.id}/`);
}

function sentenceOf(conflict: Conflict | null): string {
  const who = conflict?.changedBy || t("saving.somebodyElse");
  return conflict?.changedAt
    ? t("saving.savedAnotherAt", { who, time: timeOf(conflict.changedAt) })
    : t("saving.savedAnother", { who });
}
