import { useState } from "react";
import { Refused } from "../api/client";
import { taskOf } from "../live/frames";
import { useLiveStore } from "../live/live";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { Icon } from "../shared/Icon";
import { useStudio } from "../store/studio";
import { dropFork, type Origin, publishAndFork, useFork } from "./fork";
import { isWhole } from "./parts";
import { written } from "./payload";
import { Refusal } from "./Refusal";
import { useResultsStore } from "./results";
import { openRun, runActions, setPayload } from "./wish";

/** Offered while a fork is prepared: first a test with the run's data, then the fork itself. */
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
      <p>
        Change the workflow, then go on from <code>{origin.step}</code> with this run's data.
      </p>
      <Button
        icon="science"
        label="Test from here…"
        refusal={test?.refusal ?? (fetching ? "The run's data are being fetched." : undefined)}
        onClick={() => testFrom(task)}
      />
      <Button
        icon="fork_right"
        label="Publish and fork…"
        refusal={
          may ? undefined : "Your role in this workspace does not allow publishing and operating."
        }
        onClick={() => setAsking(true)}
      />
      <Button icon="close" label="Do not fork" bare onClick={dropFork} />
      {asking && <Question origin={origin} onClose={() => setAsking(false)} />}
    </div>
  );
}

/**
 * Whether the data of the run on screen are still to come. Once they are there they may be fetched
 * again, as its tasks end: that must not take the button away under a click.
 */
function useFetching(): boolean {
  const watched = useLiveStore((state) => state.watched);
  return useResultsStore(
    ({ results, trouble }) =>
      watched !== null && results?.executionId !== watched && trouble === "",
  );
}

/** The run dialog with the origin's payload and, for the tasks before, its results. */
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
      <Button label="Not now" onClick={onClose} />
      <Button label={busy ? "Forking…" : "Publish and fork"} strong onClick={() => void fork()} />
    </>
  );
  return (
    <Dialog title="Publish and fork" onClose={onClose} actions={actions}>
      {refused && <Refusal refused={refused} />}
      <p>
        The draft is saved and published: triggers use it from then on. A new execution begins on it
        right before <code>{origin.step}</code>, with what was done until then. If that step comes
        after an approval, the new execution begins with the approval and asks for it again. The run
        you came from stays as it is.
      </p>
    </Dialog>
  );
}
