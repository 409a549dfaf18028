import { useMemo } from "react";
import type { ModuleType } from "../../api/shapes";
import type { Json, Task, TaskPath, Undo } from "../../document/types";
import type { Frame } from "../../forms/frame";
import type { Pointer } from "../../forms/pointer";
import { SchemaForm } from "../../forms/SchemaForm";
import { announce } from "../../shared/announce";
import { Button } from "../../shared/Button";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { useCredentials } from "../credentials";
import { putInTask } from "../editing";
import { useNames } from "../names";
import { useWorkflowSchema } from "../schema";
import { undoing } from "./chaining";
import { ModuleOptions } from "./ModuleOptions";
import { Parameters } from "./Parameters";
import { runningSchema } from "./runningSchema";

interface Props {
  path: TaskPath;
  task: Task;
  problems: Frame["problems"];
}

const BASE: Pointer = ["undo"];
/** Keys that this form does not show: other controls show them, or undo steps do not have them. */
const ELSEWHERE = ["id", "use", "with", "cache"];

/** The step that undoes the task: its module, its inputs, and how it runs. */
export function UndoStep({ path, task, problems }: Props) {
  const types = useStudio((state) => state.types);
  const refusal = useRefusal();
  const names = useNames(path, 0, true);
  const put = (undo: Undo | undefined, sentence: string): void => {
    putInTask(path, BASE, undo as unknown as Json | undefined);
    announce(sentence);
  };
  const undo = task.undo;
  if (task.body) {
    return <p className="subtle">{t("inspector.aContainerHasNoUndoGive")}</p>;
  }
  const type = undo && types.get(undo.use);
  return (
    <>
      <p className="subtle">{t("inspector.itRunsWhenTheExecutionFails")}</p>
      <ChooseModule
        use={undo?.use ?? ""}
        refused={refusal !== undefined}
        onChoose={(chosen) =>
          put({ use: chosen.type, with: {} }, t("inspector.undoneBy", { title: chosen.title }))
        }
      />
      {undo && (
        <>
          <Parameters
            {...{ path, task, type, problems, names }}
            module={{ id: "main", ...undo }}
            base={BASE}
            at={0}
          />
          <Running {...{ path, undo, type, problems }} />
          <p className="panel-foot">
            <Button
              icon="delete"
              label={t("inspector.removeUndo")}
              refusal={refusal}
              onClick={() => put(undefined, t("inspector.removedTheUndo"))}
            />
          </p>
        </>
      )}
    </>
  );
}

interface RunningProps {
  path: TaskPath;
  undo: Undo;
  type: ModuleType | undefined;
  problems: Frame["problems"];
}

/** The undo step's own retries, timeout, credential and queue; it does not inherit the task's. */
function Running({ path, undo, type, problems }: RunningProps) {
  const workflow = useWorkflowSchema();
  const refusal = useRefusal();
  const { secrets, state } = useCredentials();
  const kinds = useStudio((state) => state.page.credentialTypes);
  const schema = useMemo(
    () => workflow && runningSchema(workflow, type, state === "known" ? secrets : null, kinds),
    [workflow, type, secrets, state, kinds],
  );
  if (!workflow || !schema) return <p role="status">{t("shared.loading")}</p>;
  return (
    <>
      <h3>{t("inspector.howItRuns")}</h3>
      <SchemaForm
        root={workflow}
        {...{ schema, refusal, problems }}
        value={undo as unknown as Json}
        base={BASE}
        without={ELSEWHERE}
        onChange={(pointer, value) => putInTask(path, [...BASE, ...pointer], value)}
      />
    </>
  );
}

interface ChooseProps {
  use: string;
  refused: boolean;
  onChoose: (type: ModuleType) => void;
}

/** A choice of the modules that an undo step can use. */
function ChooseModule({ use, refused, onChoose }: ChooseProps) {
  const types = useStudio((state) => state.types);
  const fitting = useMemo(() => undoing(types.values()), [types]);
  const isListed = use === "" || fitting.some((type) => type.type === use);
  return (
    <select
      className="input add-module"
      aria-label={t("inspector.moduleThatUndoesTheTask")}
      value={use}
      disabled={refused}
      onChange={(event) => {
        const type = types.get(event.currentTarget.value);
        if (type) onChoose(type);
      }}
    >
      <option value="">{t("inspector.addAnUndoStep")}</option>
      {!isListed && <option value={use}>{types.get(use)?.title ?? use}</option>}
      <ModuleOptions types={fitting} />
    </select>
  );
}
