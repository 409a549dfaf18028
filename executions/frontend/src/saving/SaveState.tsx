import { Icon } from "../shared/Icon";
import { type Saving, useStudio } from "../store/studio";

const MARKS: Record<Saving, [icon: string, word: string]> = {
  saved: ["cloud_done", "saved"],
  unsaved: ["edit", "unsaved changes"],
  saving: ["cloud_upload", "saving…"],
  conflict: ["call_split", "changed by somebody else"],
  offline: ["cloud_off", "server not reached"],
  "signed-out": ["lock", "signed out"],
  error: ["error", "not saved"],
};

/** Whether the server has what is on the screen, in a word. */
export function SaveState() {
  const saving = useStudio((state) => state.saving);
  const error = useStudio((state) => state.savingError);
  const [icon, word] = MARKS[saving];
  return (
    <span className={`pill ${saving}`} role="status" aria-label="Draft" title={error || undefined}>
      <Icon name={icon} />
      {word}
    </span>
  );
}
