import { useEffect } from "react";
import { useDocument, useStudio } from "../store/studio";
import { forget, keep } from "./kept";
import { takePending } from "./pending";
import { useKeeping } from "./state";
import { save } from "./useSaving";

/** Pause in typing before unsaved work is stored in the tab, in milliseconds. */
const KEEP_PAUSE = 400;
/** Time between attempts to save while the server cannot be reached, in milliseconds. */
const RETRY_PAUSE = 15_000;

/** Stores unsaved work for reloads, and saves again after a failure; renders nothing. */
export function Keeper() {
  useKeptWork();
  useWarning();
  useRetries();
  return null;
}

/** Store the unsaved work, or remove the stored work if the server has everything. */
function keepNow(): void {
  const { workflow, page, etag, history, stored } = useStudio.getState();
  if (!workflow || !page.canEdit) return;
  if (history.present === stored) {
    forget(workflow.id);
    return;
  }
  const at = new Date().toISOString();
  const work = { at, username: page.username, etag, document: history.present };
  useKeeping.setState({ tooLarge: !keep(workflow.id, work) });
}

function useKeptWork(): void {
  const document = useDocument();
  const stored = useStudio((state) => state.stored);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of either starts the pause
  useEffect(() => {
    const timer = setTimeout(keepNow, KEEP_PAUSE);
    return () => clearTimeout(timer);
  }, [document, stored]);
  useEffect(() => {
    const leave = (): void => {
      takePending();
      keepNow();
    };
    addEventListener("pagehide", leave);
    return () => removeEventListener("pagehide", leave);
  }, []);
}

/** Let the browser warn before a tab with unsaved work is closed. */
function useWarning(): void {
  const unsaved = useStudio((state) => state.history.present !== state.stored);
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [unsaved]);
}

/** Save again when the server may be reachable, or when the user returns from signing in. */
function useRetries(): void {
  const saving = useStudio((state) => state.saving);
  useEffect(() => {
    if (saving !== "offline" && saving !== "signed-out") return;
    const again = (): void => {
      if (document.visibilityState === "visible") void save();
    };
    const events = saving === "offline" ? ["online"] : ["focus"];
    for (const name of events) addEventListener(name, again);
    const timer = saving === "offline" ? setInterval(again, RETRY_PAUSE) : undefined;
    return () => {
      for (const name of events) removeEventListener(name, again);
      clearInterval(timer);
    };
  }, [saving]);
}
