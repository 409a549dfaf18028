import { readOnlyReason } from "../store/readOnly";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { notice } from "./notice";

/** Ask what the selected task is to be connected to; says what is missing where that cannot be. */
export function askConnection(): void {
  const { selection, page, set } = useStudio.getState();
  const refusal = readOnlyReason(page);
  if (refusal !== undefined) notice(refusal);
  else if (selection.tasks.length !== 1) notice(t("canvas.selectOneTaskToConnect"));
  else set({ dialog: "connect" });
}
