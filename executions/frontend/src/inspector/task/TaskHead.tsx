import { useId, useState } from "react";
import type { ModuleType } from "../../api/shapes";
import { copyTaskLink } from "../../canvas/taskLink";
import { renameTask } from "../../document/edits";
import { bodyAt, bodyOf, pathOf } from "../../document/paths";
import type { Task, TaskPath } from "../../document/types";
import { RunMenu } from "../../running/RunMenu";
import { Button } from "../../shared/Button";
import { Icon } from "../../shared/Icon";
import { iconOf } from "../../shared/moduleIcon";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { putInTask } from "../editing";

interface Props {
  path: TaskPath;
  task: Task;
  type: ModuleType | undefined;
  problems: ReadonlyMap<string, readonly string[]>;
}

/** A task's name and id. */
export function TaskHead({ path, task, type, problems }: Props) {
  const refusal = useRefusal();
  const wrong = ["", "id", "name"].flatMap((key) => problems.get(key) ?? []);
  const said = useId();
  return (
    <header className="task-head">
      <Icon name={iconOf(type)} />
      <div>
        <input
          className="title-input"
          aria-label={t("inspector.name")}
          data-field="name"
          autoComplete="off"
          value={task.name ?? ""}
          placeholder={type?.title ?? task.id}
          readOnly={refusal !== undefined}
          onChange={(event) => putInTask(path, ["name"], event.currentTarget.value || undefined)}
        />
        <IdInput path={path} task={task} invalid={wrong.length > 0} describedBy={said} />
        <div id={said}>
          {wrong.map((sentence) => (
            <p key={sentence} className="wrong">
              <Icon name="error" /> {sentence}
            </p>
          ))}
        </div>
      </div>
      <span className="task-actions">
        <Button
          bare
          icon="link"
          label={t("canvas.copyLink")}
          onClick={() => void copyTaskLink(path)}
        />
        <RunMenu path={path} />
      </span>
    </header>
  );
}

interface IdProps {
  path: TaskPath;
  task: Task;
  invalid: boolean;
  describedBy: string;
}

/** The id; a change applies when the field loses the focus, and updates templates and edges. */
function IdInput({ path, task, invalid, describedBy }: IdProps) {
  const refusal = useRefusal();
  const [typed, setTyped] = useState<string | null>(null);
  const field = useId();
  const commit = (stay: boolean): void => {
    const wanted = typed?.trim() ?? "";
    setTyped(null);
    if (wanted !== "" && wanted !== task.id) rename(path, wanted, stay);
  };
  return (
    <span className="id-line">
      <label htmlFor={field}>{t("inspector.id")}</label>
      <input
        id={field}
        className="id-input"
        data-field="id"
        autoComplete="off"
        spellCheck={false}
        value={typed ?? task.id}
        readOnly={refusal !== undefined}
        title={t("inspector.templatesReadTasksIdOutputThey")}
        aria-invalid={invalid || undefined}
        aria-describedby={describedBy}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => commit(false)}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit(true);
          if (event.key === "Escape" && typed !== null) {
            event.stopPropagation();
            setTyped(null);
          }
        }}
      />
    </span>
  );
}

/** Rename the task and keep it selected; with `stay`, focus the id again. */
function rename(path: TaskPath, wanted: string, stay: boolean): void {
  const { edit, select, set, history } = useStudio.getState();
  const inside = bodyOf(path);
  const at = bodyAt(history.present, inside)?.tasks.findIndex(
    (one) => pathOf(inside, one.id) === path,
  );
  edit((document) => renameTask(document, path, wanted));
  const id = bodyAt(useStudio.getState().history.present, inside)?.tasks[at ?? -1]?.id;
  if (id === undefined) return;
  select({ tasks: [pathOf(inside, id)] });
  if (stay) set({ wantedField: ["id"] });
}
