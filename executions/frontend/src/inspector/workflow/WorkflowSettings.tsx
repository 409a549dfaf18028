import { useEffect, useMemo, useState } from "react";
import { listWorkflows } from "../../api/workflows";
import type { Definition, Json, JsonObject } from "../../document/types";
import type { Frame } from "../../forms/frame";
import { SchemaForm } from "../../forms/SchemaForm";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { putInWorkflow } from "../editing";
import { useNames } from "../names";
import { partOf, useWorkflowSchema } from "../schema";

interface Props {
  document: Definition;
  problems: Frame["problems"];
}

const OUTPUT = {
  type: "object",
  properties: {
    output: { description: t("inspector.whatTheExecutionReturnsMayHold") },
  },
};

/** Settings of executions, their labels, and their output. */
export function WorkflowSettings({ document, problems }: Props) {
  const refusal = useRefusal();
  const names = useNames(null);
  const schema = useWorkflowSchema();
  const slugs = useSlugs();
  const settings = useMemo(() => (schema ? settingsOf(schema, slugs) : null), [schema, slugs]);
  const labels = useMemo(() => (schema ? labelsOf(schema) : null), [schema]);
  if (!schema || !settings || !labels) return <p role="status">{t("shared.loading")}</p>;
  return (
    <>
      <SchemaForm
        schema={settings}
        root={schema}
        value={document.settings ?? {}}
        base={["settings"]}
        textOnly
        {...{ problems, refusal, names }}
        onChange={(pointer, value) => putInWorkflow(["settings", ...pointer], value)}
      />
      <SchemaForm
        schema={labels}
        root={schema}
        value={document.labels ? { labels: document.labels } : {}}
        textOnly
        {...{ problems, refusal, names }}
        onChange={putInWorkflow}
      />
      <SchemaForm
        schema={OUTPUT}
        value={document.output === undefined ? {} : { output: document.output }}
        {...{ problems, refusal, names }}
        onChange={(pointer, value: Json | undefined) => putInWorkflow(pointer, value)}
      />
    </>
  );
}

/** Return the settings' schema, with the slugs as choices for the error workflow. */
function settingsOf(schema: JsonObject, slugs: readonly string[] | null): JsonObject {
  const settings = partOf(schema, "$defs", "settings");
  if (slugs === null) return settings;
  const properties = partOf(settings, "properties");
  const onFailure = partOf(properties, "onFailure");
  const workflow = { ...partOf(onFailure, "properties", "workflow"), enum: [...slugs] };
  return {
    ...settings,
    properties: { ...properties, onFailure: { ...onFailure, properties: { workflow } } },
  };
}

/** Return the schema of a form with only the labels. */
const labelsOf = (schema: JsonObject): JsonObject => ({
  type: "object",
  properties: { labels: partOf(schema, "properties", "labels") },
});

const MANY = 200;

/** Return the slugs of the workspace's workflows; null if there are too many for a choice. */
function useSlugs(): readonly string[] | null {
  const own = useStudio((state) => state.workflow);
  const [slugs, setSlugs] = useState<readonly string[] | null>(null);
  useEffect(() => {
    let over = false;
    listWorkflows(`?limit=${MANY}`)
      .then(({ data }) => {
        const ours = data.filter((one) => one.workspaceId === own?.workspaceId);
        if (!over && data.length < MANY) setSlugs(ours.map((one) => one.slug));
      })
      // Without the list, users type the slug.
      .catch(() => undefined);
    return () => {
      over = true;
    };
  }, [own]);
  return slugs;
}
