import { useState } from "react";
import { Refused } from "../api/client";
import { taskOf } from "../live/frames";
import { useLiveStore } from "../live/live";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { rich } from "../words/rich";
import { t } from "../words/t";
import { dropFork, type Origin, publishAndFork, useFork } from "./fork";
import { isWhole } from "./parts";
import { written } from "./payload";
import { Refusal } from "./Refusal";
import { useResultsStore } from "./results";
import { openRun, runActions, setPayload } from "./wish";

/** The notice while a fork is prepared, with buttons for a test and for the fork itself. */
export function ForkNotice() {
  const origin = useFork((state) => state.origin);
  const [asking, setAsking] = useState(false);
  const page = useStudio((state) => state.page);
  const fetching = useFetching();
  if (origin === null) return null;
  const task = taskOf(origin.step);
  const test = runActions(task).find((one) => one.kind === "from");
  const may = page.canPublish && page.canRun && page.canOperate;
  return (
    <div className="run-notice" role="note">
      <Icon name="fork_right" />
      <p>{rich("running.changeTheWorkflowThenGo", { step: <code>{origin.step}</code> })}</p>
      <Button
        icon="science"
        label={t("running.testFromHere")}
        refusal={test?.refusal ?? (fetching ? t("running.theRunsDataAreBeingFetched") : undefined)}
        onClick={() => testFrom(task)}
      />
      <Button
        icon="fork_right"
        label={t("running.publishAndFork")}
        refusal={may ? undefined : t("running.yourRoleForbidsPublishing")}
        onClick={() => setAsking(true)}
      />
      <Button icon="close" label={t("running.doNotFork")} bare onClick={dropFork} />
      {asking && <Question origin={origin} onClose={() => setAsking(false)} />}
    </div>
  );
}

/**
 * Whether the displayed execution's data is not loaded yet. Later reloads, when tasks end, do not
 * count, because they would disable the button just before a click.
 */
function useFetching(): boolean {
  const watched = useLiveStore((state) => state.watched);
  return useResultsStore(
    ({ results, trouble }) =>
      watched !== null && results?.executionId !== watched && trouble === "",
  );
}

/**
 * Open the run dialog with the original execution's payload and its results for the earlier tasks.
 */
function testFrom(task: string): void {
  const payload = useResultsStore.getState().results?.payload ?? null;
  if (payload !== null && isWhole(payload)) setPayload(written(payload));
  openRun({ kind: "from", task });
}

function Question({ origin, onClose }: { origin: Origin; onClose: () => void }) {
  const [refused, setRefused] = useState<Refused | null>(null);
  const [busy, setBusy] = useState(false);
  const fork = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    try {
      await publishAndFork(origin);
      onClose();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      setRefused(error instanceof Refused ? error : new Refused(0, words));
      setBusy(false);
    }
  };
  const actions = (
    <>
      <Button label={t("running.notNow")} onClick={onClose} />
      <Button
        label={busy ? t("running.forking") : t("running.publishAndForkNow")}
        strong
        onClick={() => void fork()}
      />
    </>
  );
  return (
    <Dialog title={t("running.publishAndForkNow")} onClose={onClose} actions={actions}>
      {refused && <Refusal refused={refused} />}
      <p>{rich("running.theDraftIsSavedAndPublished", { step: <code>{origin.step}</code> })}</p>
    </Dialog>
  );
}
