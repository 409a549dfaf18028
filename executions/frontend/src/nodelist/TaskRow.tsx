import { memo, useState } from "react";
import { lastUse, modulesOf } from "../document/modules";
import { ERROR, outcomesOf } from "../document/outcomes";
import type { Edge } from "../document/types";
import { useLiveOf } from "../live/live";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { iconOf } from "../shared/moduleIcon";
import { open } from "../shell/drawers";
import { useRefusal } from "../store/readOnly";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { part, remove } from "./actions";
import { Connecting } from "./Connecting";
import { MoveTo } from "./MoveTo";
import { type Row, sameRow } from "./rows";

interface Props {
  row: Row;
  selected: boolean;
}

/** A task with its edges, its outcomes, and its state in the displayed execution. */
export const TaskRow = memo(
  function TaskRow({ row, selected }: Props) {
    const { path, body, task } = row;
    const types = useStudio((state) => state.types);
    const label = task.name || task.id;
    const uses = modulesOf(task).map((module) => module.use);
    return (
      <tr className={selected ? "selected" : ""} data-task={path}>
        <th scope="row" className={`depth-${Math.min(body.length, 6)}`}>
          <button
            type="button"
            className="task-name"
            aria-pressed={selected}
            aria-label={
              body.length > 0
                ? t("nodelist.in", { task: label, container: body.join(".") })
                : undefined
            }
            onClick={() => {
              useStudio.getState().goTo(path);
              open("inspector");
            }}
          >
            <Icon name={iconOf(types.get(lastUse(task)))} />
            <span>{label}</span>
          </button>
        </th>
        <td data-label={t("nodelist.module")}>
          <code>{uses.join(" → ") || t("nodelist.noModule")}</code>
        </td>
        <td data-label={t("nodelist.after")}>
          <After row={row} label={label} />
        </td>
        <td data-label={t("nodelist.outcomes")}>{ownOutcomes(outcomesOf(task, types))}</td>
        <td data-label={t("nodelist.lastRun")}>
          <State path={path} />
        </td>
        <td data-label={t("nodelist.problemsColumn")}>
          <Problems path={path} />
        </td>
        <td className="row-actions">
          <MoveTo path={path} label={label} />
          <Delete path={path} label={label} />
        </td>
      </tr>
    );
  },
  (one, other) => one.selected === other.selected && sameRow(one.row, other.row),
);

/** Return the outcomes except `error`, which every task has. */
const ownOutcomes = (outcomes: readonly string[]): string =>
  outcomes.filter((outcome) => outcome !== ERROR).join(", ");

function After({ row, label }: { row: Row; label: string }) {
  const [adding, setAdding] = useState(false);
  const canEdit = useStudio((state) => state.page.canEdit);
  return (
    <div className="comes-after">
      {row.into.map((edge) => (
        <Connection key={`${edge.from}:${edge.on}`} edge={edge} row={row} />
      ))}
      {row.into.length === 0 && <span className="subtle">{t("nodelist.theStart")}</span>}
      {adding ? (
        <Connecting to={row.path} onDone={() => setAdding(false)} />
      ) : (
        canEdit && (
          <Button
            icon="add"
            label={t("nodelist.connectTask", { task: label })}
            bare
            onClick={() => setAdding(true)}
          />
        )
      )}
    </div>
  );
}

function Connection({ edge, row }: { edge: Edge; row: Row }) {
  const canEdit = useStudio((state) => state.page.canEdit);
  const on = edge.on ?? "success";
  return (
    <span className="connection">
      {edge.from}
      <span className="subtle">{t("nodelist.onOutcome", { outcome: on })}</span>
      {canEdit && (
        <Button
          icon="close"
          label={t("nodelist.disconnectFrom", { task: edge.from, outcome: on })}
          bare
          onClick={() => part(row.body, edge)}
        />
      )}
    </span>
  );
}

function State({ path }: { path: string }) {
  const live = useLiveOf(path);
  if (!live) return <span className="subtle">–</span>;
  return (
    <span className={`live ${live.colour}`} title={live.error}>
      <Icon name={live.icon} />
      {live.count ?? live.word}
    </span>
  );
}

function Problems({ path }: { path: string }) {
  const problems = useStudio((state) => state.problems);
  const own = problems.filter((problem) => problem.task === path);
  const [first] = own;
  if (!first) return <span className="subtle">{t("nodelist.noProblems")}</span>;
  const errors = own.some((problem) => problem.level === "error");
  return (
    <button
      type="button"
      className={`problem-link ${errors ? "red" : "amber"}`}
      onClick={() => {
        useStudio.getState().goTo(path, first.pointer);
        open("inspector");
      }}
    >
      <Icon name={errors ? "error" : "warning"} />
      {own.length === 1 ? first.message : t("nodelist.problems", { count: own.length })}
    </button>
  );
}

function Delete({ path, label }: { path: string; label: string }) {
  const refusal = useRefusal();
  return (
    <Button
      icon="delete"
      label={t("nodelist.delete", { name: label })}
      bare
      refusal={refusal}
      onClick={(event) => {
        neighbour(event.currentTarget)?.focus();
        remove(path);
      }}
    />
  );
}

/**
 * Return the element to focus after a row is deleted: the row above, or the button above the table.
 */
function neighbour(within: HTMLElement): HTMLElement | null {
  const above = within.closest("tr")?.previousElementSibling;
  const button = above?.querySelector<HTMLElement>(".task-name");
  return button ?? within.closest(".nodelist")?.querySelector<HTMLElement>("button") ?? null;
}
