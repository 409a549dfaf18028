import { useState } from "react";
import { Refused } from "../api/client";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { cancelExecution } from "./executions";

/** The button that cancels a run, and its question. */
export function CancelRun({ execution }: { execution: string }) {
  const may = useStudio((state) => state.page.canOperate);
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button
        icon="do_not_disturb_on"
        label="Cancel…"
        refusal={may ? undefined : "Your role in this workspace does not allow cancelling runs."}
        onClick={() => setAsking(true)}
      />
      {asking && <Question execution={execution} onClose={() => setAsking(false)} />}
    </>
  );
}

function Question({ execution, onClose }: { execution: string; onClose: () => void }) {
  const [refused, setRefused] = useState("");
  const cancel = async (): Promise<void> => {
    try {
      await cancelExecution(execution);
      announce("Cancelling the run.");
      onClose();
    } catch (error) {
      setRefused(error instanceof Refused ? error.detail : String(error));
    }
  };
  const actions = (
    <>
      <Button label="Let it run" onClick={onClose} />
      <Button label="Cancel the run" strong onClick={() => void cancel()} />
    </>
  );
  return (
    <Dialog title="Cancel this run?" onClose={onClose} actions={actions}>
      <p>Live steps are cancelled and their results refused. This cannot be undone.</p>
      {refused !== "" && (
        <p className="wrong" role="alert">
          {refused}
        </p>
      )}
    </Dialog>
  );
}
