import { useMemo } from "react";
import type { Definition, Json } from "../../document/types";
import type { Frame } from "../../forms/frame";
import { SchemaForm } from "../../forms/SchemaForm";
import { Button } from "../../shared/Button";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { putInWorkflow } from "../editing";
import { usedBy } from "./usedBy";

interface Props {
  document: Definition;
  problems: Frame["problems"];
}

const SCHEMA = {
  type: "object",
  properties: {
    variables: {
      type: "object",
      description: t("inspector.namesAndTheValuesThey"),
      additionalProperties: {},
    },
  },
};

/** The variables of an execution, and the tasks that use each variable. */
export function Variables({ document, problems }: Props) {
  const refusal = useRefusal();
  const names = Object.keys(document.variables ?? {});
  const key = names.join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names are in the key
  const used = useMemo(() => usedBy(document, names), [document, key]);
  const value: Json = document.variables ? { variables: document.variables } : {};
  return (
    <>
      <SchemaForm
        schema={SCHEMA}
        value={value}
        problems={problems}
        refusal={refusal}
        onChange={putInWorkflow}
      />
      {names.length > 0 && (
        <dl className="facts">
          {names.map((name) => (
            <UsedBy key={name} name={name} paths={used.get(name) ?? []} />
          ))}
        </dl>
      )}
    </>
  );
}

function UsedBy({ name, paths }: { name: string; paths: readonly string[] }) {
  const { goTo } = useStudio.getState();
  return (
    <>
      <dt>
        <code>{name}</code>
      </dt>
      <dd>
        {paths.length === 0 ? t("inspector.usedByNoTask") : `${t("inspector.usedBy")} `}
        {paths.slice(0, 20).map((path) => (
          <Button key={path} className="link" label={path} onClick={() => goTo(path)} />
        ))}
      </dd>
    </>
  );
}
