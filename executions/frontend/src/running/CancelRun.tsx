import { useState } from "react";
import { Refused } from "../api/client";
import { announce } from "../shared/announce";
import { Button } from "../shared/Button";
import { Dialog } from "../shared/Dialog";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { cancelExecution } from "./executions";

/** The button that cancels the execution, with a confirmation. */
export function CancelRun({ execution }: { execution: string }) {
  const may = useStudio((state) => state.page.canOperate);
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button
        icon="do_not_disturb_on"
        label={t("running.cancel")}
        refusal={may ? undefined : t("running.yourRoleForbidsCancelling")}
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
      announce(t("running.cancellingTheRun"));
      onClose();
    } catch (error) {
      setRefused(error instanceof Refused ? error.detail : String(error));
    }
  };
  const actions = (
    <>
      <Button label={t("running.letItRun")} onClick={onClose} />
      <Button label={t("running.cancelTheRun")} strong onClick={() => void cancel()} />
    </>
  );
  return (
    <Dialog title={t("running.cancelThisRun")} onClose={onClose} actions={actions}>
      <p>{t("running.liveStepsAreCancelledAndTheir")}</p>
      {refused !== "" && (
        <p className="wrong" role="alert">
          {refused}
        </p>
      )}
    </Dialog>
  );
}
