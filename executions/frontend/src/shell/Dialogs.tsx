import { ConflictDialog } from "../saving/ConflictDialog";
import { useStudio } from "../store/studio";

/** The dialog that is open, if any. */
export function Dialogs() {
  const dialog = useStudio((state) => state.dialog);
  if (dialog === null) return null;
  if (dialog === "conflict") return <ConflictDialog />;
  return null;
}
