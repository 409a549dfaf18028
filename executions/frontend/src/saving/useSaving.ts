import { useCallback } from "react";
import { Refused } from "../api/client";
import { saveDraft } from "../api/workflows";
import type { Definition } from "../document/types";
import { announce } from "../shared/announce";
import { type Saving, useStudio } from "../store/studio";
import { t } from "../words/t";
import { takePending } from "./pending";
import { useKeeping } from "./state";

/** Return a function that saves the draft; see `save`. */
export const useSaving = (): (() => Promise<boolean>) => useCallback(() => save(), []);

let underWay: { document: Definition; saved: Promise<boolean> } | null = null;

/**
 * Save the draft; return whether the server has the present document. Simultaneous calls for one
 * document share a request.
 */
export async function save(): Promise<boolean> {
  takePending();
  // A running request may save an older document.
  while (underWay !== null && underWay.document !== present()) await underWay.saved;
  underWay ??= { document: present(), saved: saveOnce().finally(ended) };
  return underWay.saved;
}

const present = (): Definition => useStudio.getState().history.present;

function ended(): void {
  underWay = null;
}

async function saveOnce(): Promise<boolean> {
  const { workflow, history, stored, etag, set, page, saving } = useStudio.getState();
  const document = history.present;
  if (!workflow || !page.canEdit) return false;
  if (document === stored) {
    if (saving !== "saved") set({ saving: "saved", savingError: "" });
    announce(t("saving.nothingToSave"));
    return true;
  }
  if (saving === "conflict") {
    set({ dialog: "conflict" });
    return false;
  }
  set({ saving: "saving", savingError: "" });
  try {
    await send(etag);
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
}

/** Overwrite the draft with this ETag; changes during the request stay unsaved. */
export async function send(etag: string): Promise<void> {
  const { workflow, history } = useStudio.getState();
  if (!workflow) return;
  const document = history.present;
  const name = document.name === workflow.name ? {} : { name: document.name };
  const answer = await saveDraft(workflow.id, { definition: document, ...name }, etag);
  const { definition: _, ...summary } = answer.data;
  useStudio.setState({
    workflow: summary,
    etag: answer.etag ?? "",
    stored: document,
    saving: useStudio.getState().history.present === document ? "saved" : "unsaved",
    savingError: "",
  });
  useKeeping.setState({ conflict: null, restoredFrom: null });
  announce(t("saving.savedNow"));
}

/** Show why saving failed; no work is lost. */
function failed(error: unknown): void {
  const { set } = useStudio.getState();
  const refused = error instanceof Refused ? error : new Refused(1, String(error));
  const saving = stateOf(refused);
  set({ saving, savingError: refused.detail });
  if (saving === "conflict") {
    const { changedBy, changedAt } = refused.body;
    useKeeping.setState({
      conflict: { changedBy: String(changedBy ?? ""), changedAt: String(changedAt ?? "") },
    });
    set({ dialog: "conflict" });
  }
  announce(t("saving.notSavedBecause", { reason: refused.detail }));
}

function stateOf(refused: Refused): Saving {
  if (refused.status === 412) return "conflict";
  if (refused.status === 0) return "offline";
  return refused.signedOut ? "signed-out" : "error";
}
