import { useEffect, useId, useState } from "react";
import { outcomesOf } from "../../document/outcomes";
import type { TaskPath } from "../../document/types";
import { FrameContext } from "../../forms/frame";
import { JsonField } from "../../forms/JsonField";
import { outputOf } from "../../running/executions";
import { draftFor, loaded, refusalOf } from "../../running/pinDraft";
import { usePins } from "../../running/pins";
import type { TaskResult } from "../../running/results";
import { wasCut } from "../../running/starting";
import { announce } from "../../shared/announce";
import { Button } from "../../shared/Button";
import { Dialog } from "../../shared/Dialog";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { useTask } from "../editing";

const NO_TEMPLATES = {
  root: {},
  base: [],
  refusal: undefined,
  problems: new Map(),
  change: () => undefined,
  names: null,
};

/** Pins an output, which test runs then use instead of running the task. */
export function PinButton({ path, result }: { path: TaskPath; result: TaskResult | undefined }) {
  const [editing, setEditing] = useState(false);
  const pin = usePins((state) => state.pins.get(path));
  const inside = path.includes(".") ? t("inspector.tasksWithinAContainerCannot") : undefined;
  return (
    <p className="pin-line">
      <Button
        icon="push_pin"
        label={pin ? t("inspector.editThePin") : t("inspector.pinAnOutput")}
        refusal={inside}
        onClick={() => setEditing(true)}
      />
      {pin && (
        <Button
          icon="keep_off"
          label={t("inspector.unpin")}
          onClick={() => {
            usePins.getState().unpin(path);
            announce(t("inspector.unpinned"));
          }}
        />
      )}
      {pin && <span className="subtle">{t("inspector.testRunsTakeThePinnedOutput")}</span>}
      {editing && <PinDialog path={path} result={result} onClose={() => setEditing(false)} />}
    </p>
  );
}

interface DialogProps {
  path: TaskPath;
  result: TaskResult | undefined;
  onClose: () => void;
}

function PinDialog({ path, result, onClose }: DialogProps) {
  const task = useTask(path);
  const types = useStudio((state) => state.types);
  const pin = usePins((state) => state.pins.get(path));
  const [draft, setDraft] = useState(() => draftFor(pin, result));
  const outcomes = task ? outcomesOf(task, types).filter((one) => one !== "error") : [];
  const [outcome, setOutcome] = useState(pin?.outcome ?? result?.outcome ?? outcomes[0]);
  const field = useId();
  const cut = pin === undefined && result !== undefined && wasCut(result.outputs);
  const run = cut ? result.runId : null;
  useEffect(() => {
    if (run === null) return;
    // Load an output that was left out for its size, because a pin must contain all of it. The user
    // may type another output meanwhile.
    void loaded(outputOf(run)).then(setDraft);
  }, [run]);
  const refusal = refusalOf(draft);
  const save = (): void => {
    usePins.getState().pin(path, { output: draft.output ?? null, ...(outcome ? { outcome } : {}) });
    announce(t("inspector.pinned"));
    onClose();
  };
  return (
    <Dialog
      title={t("inspector.pinnedOutput", { task: path })}
      onClose={onClose}
      actions={
        <>
          <Button label={t("shared.cancel")} onClick={onClose} />
          <Button strong label={t("inspector.pin")} refusal={refusal} onClick={save} />
        </>
      }
    >
      <p className="subtle">{t("inspector.aTestRunGivesThisInstead")}</p>
      {refusal && draft.trouble !== "" && (
        <p className="dialog-failure" role="alert">
          {refusal}
        </p>
      )}
      <FrameContext.Provider value={NO_TEMPLATES}>
        <JsonField
          id={field}
          label={t("inspector.outputAsJson")}
          value={draft.output}
          onChange={(output) => setDraft((now) => ({ ...now, output }))}
        />
      </FrameContext.Provider>
      {outcomes.length > 1 && (
        <p className="pin-outcome">
          <label htmlFor={`${field}-outcome`}>{t("inspector.outcome")}</label>
          <select
            id={`${field}-outcome`}
            className="input"
            value={outcome}
            onChange={(event) => setOutcome(event.currentTarget.value)}
          >
            {outcomes.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </p>
      )}
    </Dialog>
  );
}
