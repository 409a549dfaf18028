import { useState } from "react";
import { refusalOf } from "../document/cycles";
import { lastUse } from "../document/modules";
import { outcomesOf } from "../document/outcomes";
import { bodyAt, bodyOf, pathOf, taskAt } from "../document/paths";
import { Dialog } from "../shared/Dialog";
import { iconOf } from "../shared/moduleIcon";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { link, nextOutcome } from "./connecting";
import { nameOf, typeLine } from "./names";
import { type Found, SearchList } from "./SearchList";

/** Connects the selected task without a mouse: the user chooses the outcome and the target task. */
export function ConnectDialog() {
  const path = useStudio((state) => state.selection.tasks[0]) ?? "";
  const document = useDocument();
  const types = useStudio((state) => state.types);
  const [on, setOn] = useState(() => nextOutcome(path));
  const task = taskAt(document, path);
  const close = (): void => useStudio.getState().set({ dialog: null });
  if (!task) return null;
  const body = bodyOf(path);
  const rows = (bodyAt(document, body)?.tasks ?? [])
    .filter((other) => other.id !== task.id)
    .map((other): Found => {
      const to = pathOf(body, other.id);
      return {
        id: to,
        name: nameOf(other),
        line: `${other.id} · ${typeLine(other)}`,
        icon: iconOf(types.get(lastUse(other))),
        refusal: refusalOf(document, path, to, on),
      };
    })
    .sort((one, other) => Number(Boolean(one.refusal)) - Number(Boolean(other.refusal)));
  return (
    <Dialog title={t("canvas.connect", { task: nameOf(task) })} onClose={close}>
      <fieldset className="group outcomes">
        <legend>{t("canvas.onWhichOutcome")}</legend>
        {outcomesOf(task, types).map((outcome) => (
          <label key={outcome} className="choice">
            <input
              type="radio"
              name="outcome"
              checked={on === outcome}
              onChange={() => setOn(outcome)}
            />
            {outcome}
          </label>
        ))}
      </fieldset>
      <SearchList
        label={t("canvas.toWhichTask")}
        rows={rows}
        onChoose={(to) => {
          if (link(path, to, on)) close();
        }}
      />
    </Dialog>
  );
}
