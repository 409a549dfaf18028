import { Icon } from "../shared/Icon";
import { type Saving, useStudio } from "../store/studio";
import { t } from "../words/t";

const MARKS: Record<Saving, [icon: string, word: string]> = {
  saved: ["cloud_done", t("saving.saved")],
  unsaved: ["edit", t("saving.unsavedChanges")],
  saving: ["cloud_upload", t("saving.saving")],
  conflict: ["call_split", t("saving.changedBySomebodyElse")],
  offline: ["cloud_off", t("saving.serverNotReached")],
  "signed-out": ["lock", t("saving.signedOut")],
  error: ["error", t("saving.notSaved")],
};

/** Whether the draft is saved. */
export function SaveState() {
  const saving = useStudio((state) => state.saving);
  const error = useStudio((state) => state.savingError);
  const [icon, word] = MARKS[saving];
  return (
    <span
      className={`pill ${saving}`}
      role="status"
      aria-label={t("saving.draft")}
      title={error || undefined}
    >
      <Icon name={icon} />
      {word}
    </span>
  );
}
