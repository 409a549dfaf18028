import { BacktestDialog } from "../backtest/BacktestDialog";
import { ConnectDialog } from "../canvas/ConnectDialog";
import { FindDialog } from "../canvas/FindDialog";
import { GenerateDialog } from "../generating/GenerateDialog";
import { KeysDialog } from "../keys/KeysDialog";
import { RunDialog } from "../running/RunDialog";
import { ConflictDialog } from "../saving/ConflictDialog";
import { useStudio } from "../store/studio";
import { ReplaceDialog } from "../transfer/ReplaceDialog";
import { ReportDialog } from "../transfer/Report";
import { PublishDialog } from "../versions/PublishDialog";
import { VersionsDialog } from "../versions/VersionsDialog";

/** The open dialog, if any. */
export function Dialogs() {
  const dialog = useStudio((state) => state.dialog);
  if (dialog === null) return null;
  if (dialog === "conflict") return <ConflictDialog />;
  if (dialog === "keys") return <KeysDialog />;
  if (dialog === "find") return <FindDialog />;
  if (dialog === "connect") return <ConnectDialog />;
  if (dialog === "backtest") return <BacktestDialog />;
  if (dialog === "publish") return <PublishDialog />;
  if (dialog === "versions") return <VersionsDialog />;
  if (dialog === "run") return <RunDialog />;
  if (dialog === "import") return <ReplaceDialog />;
  if (dialog === "generate") return <GenerateDialog />;
  if (dialog === "report") return <ReportDialog />;
  return null;
}
