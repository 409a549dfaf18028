import { modulesOf } from "../document/modules";
import { ROWS } from "../document/sizes";
import { markOf, markOfUndo } from "../live/states";
import { usePins } from "../running/pins";
import { useResultOf } from "../running/results";
import { Icon } from "../shared/Icon";
import { iconOf } from "../shared/moduleIcon";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { took } from "./durations";
import type { TaskData } from "./graph";
import { nameOf, repeats, typeLine, unknownUse } from "./names";

/** A task's icon, name and type, with marks for placeholders, undo steps, pins and problems. */
export function Head({ data }: { data: TaskData }) {
  const { task } = data;
  const types = useStudio((state) => state.types);
  const unknown = unknownUse(task, types);
  const type = types.get(modulesOf(task).at(-1)?.use ?? "");
  const line =
    unknown !== null
      ? t("canvas.unknownModule", { module: unknown })
      : task.body
        ? repeats(task)
        : typeLine(task);
  return (
    <div className="head">
      <span className={`badge ${(type?.category ?? "none").toLowerCase().replaceAll(" ", "-")}`}>
        <Icon name={iconOf(type)} />
      </span>
      <span className="words">
        <b title={nameOf(task)}>{nameOf(task)}</b>
        <span className="line" title={line}>
          {line}
        </span>
      </span>
      <Marks data={data} placeholder={type?.category === "Import"} />
    </div>
  );
}

function Marks({ data, placeholder }: { data: TaskData; placeholder: boolean }) {
  const pinned = usePins((state) => state.pins.has(data.path));
  const { errors, warnings } = data.problems;
  return (
    <span className="marks">
      {placeholder && (
        <span className="mark amber" title={t("canvas.importedAndStillToBeReplaced")}>
          <Icon name="construction" />
        </span>
      )}
      {data.task.undo && (
        <span className="mark" title={t("canvas.undoneBy", { module: data.task.undo.use })}>
          <Icon name="undo" />
        </span>
      )}
      {pinned && (
        <span className="mark" title={t("canvas.inTestRunsItsPinnedOutput")}>
          <Icon name="keep" />
        </span>
      )}
      {errors > 0 && (
        <span className="mark red" title={t("canvas.problems", { count: errors })}>
          <Icon name="error" />
          {errors}
        </span>
      )}
      {errors === 0 && warnings > 0 && (
        <span className="mark amber" title={t("canvas.warnings", { count: warnings })}>
          <Icon name="warning" />
          {warnings}
        </span>
      )}
    </span>
  );
}

/** The modules of a chain in order, each with its state if it has run. */
export function Chain({ data }: { data: TaskData }) {
  const types = useStudio((state) => state.types);
  const modules = modulesOf(data.task);
  if (modules.length < 2) return null;
  const shown = modules.length > ROWS ? modules.slice(0, ROWS - 1) : modules;
  return (
    <ol className="chain">
      {shown.map((module) => (
        <li key={module.id} title={`${module.id}: ${module.use}`}>
          <Icon name={iconOf(types.get(module.use))} />
          <span>{module.id}</span>
          <span className="line">{module.use}</span>
          <Step state={data.live?.steps?.[module.id]} />
        </li>
      ))}
      {shown.length < modules.length && (
        <li className="line">
          {t("canvas.moreModules", { count: modules.length - shown.length })}
        </li>
      )}
    </ol>
  );
}

function Step({ state }: { state: string | undefined }) {
  if (state === undefined) return null;
  const { word, icon, colour } = markOf(state);
  return (
    <span className={`step ${colour}`} title={word}>
      <Icon name={icon} />
    </span>
  );
}

/** The task's state and duration, below its card. */
export function State({ data: { path, live } }: { data: TaskData }) {
  const result = useResultOf(path);
  if (!live) return null;
  const time = took(result?.startedAt, result?.endedAt);
  return (
    <span className={`state ${live.colour}`} title={live.error || undefined}>
      <Icon name={live.icon} />
      {live.count ?? live.word}
      {live.runs && !live.count && path.includes(".") && (
        <span className="runs">{` · ${t("canvas.runs", { count: live.runs })}`}</span>
      )}
      {time && <span className="time">{time}</span>}
      {live.undo && <Undone state={live.undo} />}
    </span>
  );
}

function Undone({ state }: { state: string }) {
  const { word, icon, colour } = markOfUndo(state);
  return (
    <span className={`undone ${colour}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}
