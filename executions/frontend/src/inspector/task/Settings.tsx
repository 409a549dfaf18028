import { useMemo } from "react";
import type { ModuleType } from "../../api/shapes";
import { bodyAt, bodyOf } from "../../document/paths";
import type { Json, Module, Task, TaskPath } from "../../document/types";
import type { Frame } from "../../forms/frame";
import type { Pointer } from "../../forms/pointer";
import { SchemaForm } from "../../forms/SchemaForm";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { NewCredential } from "../credential/NewCredential";
import { useCredentials } from "../credentials";
import { putInTask } from "../editing";
import { useWorkflowSchema } from "../schema";
import { joinSchema, runningSchema } from "./runningSchema";

interface Props {
  path: TaskPath;
  task: Task;
  module: Module | undefined;
  type: ModuleType | undefined;
  base: Pointer;
  problems: Frame["problems"];
}

const ELSEWHERE = ["id", "use", "with", "name", "modules", "body", "ui", "join", "undo"];
// The button for a new credential is below the credential's field, so the form has two parts.
const FIRST = ["retry", "timeoutSeconds", "credential"];
const SECOND = ["queue", "cache", "circuitWaitSeconds"];
const ALL_BUT_JOIN = [
  ...ELSEWHERE.filter((key) => key !== "join"),
  ...["retry", "timeoutSeconds", "credential", "queue", "cache", "circuitWaitSeconds"],
];

/** How the task runs: retries, timeout, credential, queue, cache, and its join. */
export function Settings({ path, task, module, type, base, problems }: Props) {
  const workflow = useWorkflowSchema();
  const refusal = useRefusal();
  const { secrets, state } = useCredentials();
  const kinds = useStudio((state) => state.page.credentialTypes);
  const schemas = useMemo(
    () =>
      workflow && {
        module: runningSchema(workflow, type, state === "known" ? secrets : null, kinds),
        task: runningSchema(workflow, undefined, state === "known" ? secrets : null, kinds),
        join: joinSchema(workflow),
      },
    [workflow, type, secrets, state, kinds],
  );
  if (!schemas || !workflow) return <p role="status">{t("shared.loading")}</p>;
  const shared = { root: workflow, refusal, problems };
  const put =
    (below: Pointer) =>
    (pointer: Pointer, value: Json | undefined): void =>
      putInTask(path, [...below, ...pointer], value);
  const chained = task.modules !== undefined;
  const own = (chained ? module : task) ?? {};
  const value = own as unknown as Json;
  return (
    <>
      {chained && <h3>{t("inspector.module", { module: module?.id ?? "" })}</h3>}
      <SchemaForm
        {...shared}
        schema={schemas.module}
        value={value}
        base={base}
        without={[...SECOND, ...Object.keys(own).filter((key) => !FIRST.includes(key))]}
        onChange={put(base)}
      />
      {type && type.credential.length > 0 && (
        <NewCredential
          type={type}
          task={value}
          onMade={(name) => put(base)(["credential"], name)}
        />
      )}
      <SchemaForm
        {...shared}
        schema={schemas.module}
        value={value}
        base={base}
        without={[...ELSEWHERE, ...FIRST]}
        onChange={put(base)}
      />
      {chained && (
        <>
          <h3>{t("inspector.allModulesOfTheTask")}</h3>
          <SchemaForm
            {...shared}
            schema={schemas.task}
            value={task as unknown as Json}
            without={ELSEWHERE}
            onChange={put([])}
          />
        </>
      )}
      <h3>{t("inspector.whenItStarts")}</h3>
      <SchemaForm
        {...shared}
        schema={schemas.join}
        value={task as unknown as Json}
        without={ALL_BUT_JOIN}
        onChange={put([])}
      />
      <ErrorRoute path={path} task={task} />
    </>
  );
}

/** The text about what happens after a failure. */
function ErrorRoute({ path, task }: { path: TaskPath; task: Task }) {
  const document = useStudio((state) => state.history.present);
  const edges = bodyAt(document, bodyOf(path))?.edges ?? [];
  const ways = edges.filter((edge) => edge.from === task.id && edge.on === "error");
  return (
    <p className="subtle">
      {ways.length > 0
        ? t("inspector.whenItFailsTheExecutionGoesOn", {
            tasks: ways.map((edge) => edge.to).join(", "),
          })
        : t("inspector.whenItFailsTheExecutionFails")}
    </p>
  );
}
