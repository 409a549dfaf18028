import { useId } from "react";
import { useDocument } from "../store/studio";
import { t } from "../words/t";
import type { PartKind } from "./parts";
import { useWish } from "./wish";

const KINDS: readonly [PartKind, string][] = [
  ["everything", t("running.everything")],
  ["upTo", t("running.upToATask")],
  ["from", t("running.fromATask")],
  ["only", t("running.oneTaskAlone")],
];

/** The choice of the part of the draft to run. */
export function PartChoice() {
  const { part } = useWish();
  const tasks = useDocument().tasks;
  const id = useId();
  const choose = (kind: PartKind, task: string): void =>
    useWish.setState({ part: { kind, task: kind === "everything" ? "" : task } });
  const first = part.task || (tasks[0]?.id ?? "");
  return (
    <div className="run-row">
      <div className="run-field">
        <label htmlFor={`${id}-part`}>{t("running.part")}</label>
        <select
          id={`${id}-part`}
          value={part.kind}
          onChange={(event) => choose(event.target.value as PartKind, first)}
        >
          {KINDS.filter(([kind]) => kind === "everything" || tasks.length > 0).map(
            ([kind, name]) => (
              <option key={kind} value={kind}>
                {name}
              </option>
            ),
          )}
        </select>
      </div>
      {part.kind !== "everything" && (
        <div className="run-field grow">
          <label htmlFor={`${id}-task`}>{t("running.task")}</label>
          <select
            id={`${id}-task`}
            value={part.task}
            onChange={(event) => choose(part.kind, event.target.value)}
          >
            {tasks.map((task) => (
              <option key={task.id} value={task.id}>
                {task.name ? `${task.name} (${task.id})` : task.id}
              </option>
            ))}
          </select>
        </div>
      )}
    </div>
  );
}
