import { useId, useState } from "react";
import type { ModuleType } from "../../api/shapes";
import type { Json, Module, Task, TaskPath } from "../../document/types";
import { type Frame, FrameContext, problemsAt } from "../../forms/frame";
import { JsonField } from "../../forms/JsonField";
import { firstSentence } from "../../forms/labels";
import { Prose } from "../../forms/Prose";
import type { Pointer } from "../../forms/pointer";
import { SchemaForm } from "../../forms/SchemaForm";
import { Button } from "../../shared/Button";
import { Icon } from "../../shared/Icon";
import { useRefusal } from "../../store/readOnly";
import { t } from "../../words/t";
import { putInTask } from "../editing";
import { useNames } from "../names";

interface Props {
  path: TaskPath;
  task: Task;
  module: Module;
  type: ModuleType | undefined;
  /** The pointer from the task to the module. */
  base: Pointer;
  at: number;
  problems: Frame["problems"];
  /** The names that its templates can use, if they differ from the module's. */
  names?: Frame["names"];
}

/** The module's inputs, as a form or as JSON. */
export function Parameters({ path, task, module, type, base, at, problems, ...given }: Props) {
  const [raw, setRaw] = useState(false);
  const refusal = useRefusal();
  const usual = useNames(path, at);
  const names = given.names ?? usual;
  const place: Pointer = [...base, "with"];
  const change = (pointer: Pointer, value: Json | undefined): void =>
    putInTask(path, [...place, ...pointer], pointer.length === 0 ? (value ?? {}) : value);
  const asJson = raw || !type;
  return (
    <>
      {type && (
        <p className="subtle">
          <Prose text={firstSentence(type.description)} />
        </p>
      )}
      {!type && <Unknown use={module.use} />}
      <General problems={problems} places={[place, [...base, "use"]]} below={asJson} />
      {asJson ? (
        <Raw value={module.with ?? {}} {...{ refusal, names, problems, change }} base={place} />
      ) : (
        <SchemaForm
          schema={type.inputsSchema}
          value={module.with ?? {}}
          base={place}
          onChange={change}
          {...{ refusal, names, problems }}
        />
      )}
      <p className="panel-foot">
        {type && (
          <Button
            icon="data_object"
            label={raw ? t("inspector.showTheForm") : t("inspector.allParametersAsJson")}
            aria-pressed={raw}
            onClick={() => setRaw(!raw)}
          />
        )}
        {task.body && <span className="subtle">{t("inspector.itsTasksStand")}</span>}
      </p>
    </>
  );
}

/** The notice for a module that is not installed; its inputs are kept. */
const Unknown = ({ use }: { use: string }) => (
  <p className="callout" role="note">
    <Icon name="help" /> {t("inspector.noModuleInstalled", { use })}
  </p>
);

interface GeneralProps {
  problems: Frame["problems"];
  places: readonly Pointer[];
  /** Whether to include problems of single inputs, because no field shows them. */
  below: boolean;
}

/** The problems of the inputs as a whole. */
function General({ problems, places, below }: GeneralProps) {
  const found = places.flatMap((place) => problemsAt(problems, place, below));
  return found.map((sentence) => (
    <p key={sentence} className="wrong">
      <Icon name="error" /> {sentence}
    </p>
  ));
}

interface RawProps extends Pick<Frame, "refusal" | "names" | "problems" | "change" | "base"> {
  value: Json;
}

function Raw({ value, change, ...shared }: RawProps) {
  const id = useId();
  return (
    <FrameContext.Provider value={{ ...shared, root: {}, change }}>
      <JsonField
        id={id}
        value={value}
        label={t("inspector.parametersAsJson")}
        onChange={(next) => change([], next)}
      />
    </FrameContext.Provider>
  );
}
