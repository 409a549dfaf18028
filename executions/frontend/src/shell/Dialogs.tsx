import { ConnectDialog } from "../canvas/ConnectDialog";
import { FindDialog } from "../canvas/FindDialog";
import { KeysDialog } from "../keys/KeysDialog";
import { ConflictDialog } from "../saving/ConflictDialog";
import { useStudio } from "../store/studio";

/** The dialog that is open, if any. */
export function Dialogs() {
  const dialog = useStudio((state) => state.dialog);
  if (dialog === null) return null;
  if (dialog === "conflict") return <ConflictDialog />;
  if (dialog === "keys") return <KeysDialog />;
  if (dialog === "find") return <FindDialog />;
  if (dialog === "connect") return <ConnectDialog />;
  return null;
}
