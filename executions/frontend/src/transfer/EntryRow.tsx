import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { t } from "../words/t";
import type { Entry } from "./entries";
import { Report } from "./Report";

const MARKS: Record<Entry["state"], [icon: string, word: string]> = {
  looking: ["hourglass_top", t("transfer.beingRead")],
  ready: ["draft", t("transfer.ready")],
  busy: ["hourglass_top", t("transfer.beingCreated")],
  conflict: ["call_split", t("transfer.theNameIsTaken")],
  failed: ["error", t("transfer.cannotBeImported")],
  done: ["check_circle", t("transfer.created")],
};

interface Props {
  entry: Entry;
  home: string;
  onReplace: () => void;
  onBeside: () => void;
  onRemove: () => void;
}

/** A file: its content, its state, and the choices if its name is taken. */
export function EntryRow({ entry, home, onReplace, onBeside, onRemove }: Props) {
  const [icon, word] = MARKS[entry.state];
  return (
    <li className={`entry ${entry.state}`}>
      <div className="entry-line">
        <Icon name={icon} />
        <strong>{entry.file.name}</strong>
        <span className="subtle">{kindOf(entry)}</span>
        <span className="space" />
        {entry.made ? (
          <a href={`${home}${entry.made.id}/`}>{t("transfer.open")}</a>
        ) : (
          <span>{word}</span>
        )}
        {entry.state !== "done" && (
          <Button
            icon="close"
            label={t("transfer.leaveOut", { file: entry.file.name })}
            bare
            onClick={onRemove}
          />
        )}
      </div>
      {entry.says && <p role="alert">{entry.says}</p>}
      {entry.state === "conflict" && (
        <p className="entry-choices">
          <Button label={t("transfer.createUnderAFreeName")} onClick={onBeside} />
          <Button label={t("transfer.replaceThatWorkflowsDraft")} onClick={onReplace} />
        </p>
      )}
      {entry.preview && entry.state !== "done" && (
        <details open>
          <summary>{t("transfer.whatHappens")}</summary>
          <Report report={entry.preview.report} />
        </details>
      )}
    </li>
  );
}

function kindOf({ file }: Entry): string {
  if (file.kind === "n8n") return t("transfer.n8nNodes", { count: file.nodes });
  if (file.kind === "unknown") return "";
  const tasks = Array.isArray(file.document.tasks) ? file.document.tasks.length : 0;
  return t("transfer.formatTasks", { format: file.format.toUpperCase(), count: tasks });
}
