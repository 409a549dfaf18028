import { wordsOf } from "../api/client";
import { getWorkflow } from "../api/workflows";
import { arranged } from "../document/layout";
import { read } from "../document/reading";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { forget, kept } from "./kept";
import { useKeeping } from "./state";

/** Restore this tab's unsaved work, as one undoable edit. */
export function restoreWork(): void {
  const { workflow, page, etag, history, edit, set } = useStudio.getState();
  const work = workflow && page.canEdit ? kept(workflow.id) : null;
  if (!workflow || !work || work.username !== page.username) return;
  if (JSON.stringify(work.document) === JSON.stringify(history.present)) {
    forget(workflow.id);
    return;
  }
  edit(() => work.document);
  useKeeping.setState({ restoredFrom: work.at });
  if (work.etag === etag) return;
  useKeeping.setState({ conflict: { changedBy: "", changedAt: workflow.updatedAt } });
  set({ etag: work.etag, saving: "conflict", dialog: "conflict" });
}

/** Replace the document by the server's draft, as one undoable edit. Raises Refused. */
export async function takeTheirs(): Promise<void> {
  const id = useStudio.getState().workflow?.id;
  if (id === undefined) return;
  const { data, etag } = await getWorkflow(id);
  const { definition, ...workflow } = data;
  const theirs = arranged(read(definition, data.name), useStudio.getState().types);
  const { edit, set } = useStudio.getState();
  edit(() => theirs);
  set({ workflow, stored: theirs, etag: etag ?? "", saving: "saved", savingError: "" });
  useKeeping.setState({ restoredFrom: null, conflict: null });
  forget(id);
  announce(t("saving.theSavedDraftIsShown"));
}

/** Discard the restored work; return the error message, or "". */
export async function discardRestored(): Promise<string> {
  try {
    await takeTheirs();
    return "";
  } catch (error) {
    return wordsOf(error);
  }
}
