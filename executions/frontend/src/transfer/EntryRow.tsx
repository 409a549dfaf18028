import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import type { Entry } from "./entries";
import { Report } from "./Report";

const MARKS: Record<Entry["state"], [icon: string, word: string]> = {
  looking: ["hourglass_top", "being read…"],
  ready: ["draft", "ready"],
  busy: ["hourglass_top", "being created…"],
  conflict: ["call_split", "the name is taken"],
  failed: ["error", "cannot be imported"],
  done: ["check_circle", "created"],
};

interface Props {
  entry: Entry;
  home: string;
  onReplace: () => void;
  onBeside: () => void;
  onRemove: () => void;
}

/** One file: what it is, how far it is, and what to do where its name is taken. */
export function EntryRow({ entry, home, onReplace, onBeside, onRemove }: Props) {
  const [icon, word] = MARKS[entry.state];
  return (
    <li className={`entry ${entry.state}`}>
      <div className="entry-line">
        <Icon name={icon} />
        <strong>{entry.file.name}</strong>
        <span className="subtle">{kindOf(entry)}</span>
        <span className="space" />
        {entry.made ? <a href={`${home}${entry.made.id}/`}>Open</a> : <span>{word}</span>}
        {entry.state !== "done" && (
          <Button icon="close" label={`Leave out ${entry.file.name}`} bare onClick={onRemove} />
        )}
      </div>
      {entry.says && <p role="alert">{entry.says}</p>}
      {entry.state === "conflict" && (
        <p className="entry-choices">
          <Button label="Create under a free name" onClick={onBeside} />
          <Button label="Replace that workflow's draft" onClick={onReplace} />
        </p>
      )}
      {entry.preview && entry.state !== "done" && (
        <details open>
          <summary>What happens to it</summary>
          <Report report={entry.preview.report} />
        </details>
      )}
    </li>
  );
}

function kindOf({ file }: Entry): string {
  if (file.kind === "n8n") return `n8n, ${file.nodes} nodes`;
  if (file.kind === "unknown") return "";
  const tasks = Array.isArray(file.document.tasks) ? file.document.tasks.length : 0;
  return `${file.format.toUpperCase()}, ${tasks} ${tasks === 1 ? "task" : "tasks"}`;
}
