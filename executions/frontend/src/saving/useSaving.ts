import { useCallback } from "react";
import { Refused } from "../api/client";
import { saveDraft } from "../api/workflows";
import { announce } from "../shared/announce";
import { useStudio } from "../store/studio";

/** Saves the draft, unless there is nothing to save or somebody else was faster. */
export const useSaving = (): (() => Promise<boolean>) => useCallback(save, []);

/** Whether the server has the document as it is now. */
export async function save(): Promise<boolean> {
  const { workflow, history, stored, etag, set, page } = useStudio.getState();
  const document = history.present;
  if (!workflow || !page.canEdit) return false;
  if (document === stored) return true;
  set({ saving: "saving", savingError: "" });
  try {
    const changes = {
      definition: document,
      ...(document.name === workflow.name ? {} : { name: document.name }),
    };
    const { data, etag: next } = await saveDraft(workflow.id, changes, etag);
    const { definition: _, ...summary } = data;
    const now = useStudio.getState().history.present;
    set({
      workflow: summary,
      etag: next ?? "",
      stored: document,
      saving: now === document ? "saved" : "unsaved",
    });
    announce("Saved");
    return true;
  } catch (error) {
    set(failed(error));
    return false;
  }
}

function failed(error: unknown): {
  saving: "conflict" | "offline" | "signed-out" | "error";
  savingError: string;
} {
  if (!(error instanceof Refused)) return { saving: "error", savingError: String(error) };
  const saving =
    error.status === 412
      ? "conflict"
      : error.status === 0
        ? "offline"
        : error.signedOut
          ? "signed-out"
          : "error";
  return { saving, savingError: error.detail };
}
