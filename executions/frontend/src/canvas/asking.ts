import { readOnlyReason } from "../store/readOnly";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { notice } from "./notice";

/** Open the dialog that connects the selected task, or show why this is not possible. */
export function askConnection(): void {
  const { selection, page, set } = useStudio.getState();
  const refusal = readOnlyReason(page);
  if (refusal !== undefined) notice(refusal);
  else if (selection.tasks.length !== 1) notice(t("canvas.selectOneTaskToConnect"));
  else set({ dialog: "connect" });
}
