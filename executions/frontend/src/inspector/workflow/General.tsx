import { everyTask } from "../../document/paths";
import type { Definition, Json } from "../../document/types";
import type { Frame } from "../../forms/frame";
import { SchemaForm } from "../../forms/SchemaForm";
import { Icon } from "../../shared/Icon";
import { useRefusal } from "../../store/readOnly";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { putInWorkflow } from "../editing";

interface Props {
  document: Definition;
  problems: Frame["problems"];
}

const SCHEMA = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", maxLength: 200 },
    description: { type: "string", description: t("inspector.whatIt") },
  },
};
const OTHERS = Object.freeze([
  ...["schema", "input", "variables", "output", "settings", "tasks", "edges", "triggers", "ui"],
  "labels",
]);

/** The workflow's name and description. */
export function General({ document, problems }: Props) {
  const refusal = useRefusal();
  const slug = useStudio((state) => state.workflow?.slug);
  const version = useStudio((state) => state.workflow?.latestVersion);
  return (
    <>
      {(problems.get("") ?? []).map((sentence) => (
        <p key={sentence} className="wrong">
          <Icon name="error" /> {sentence}
        </p>
      ))}
      <SchemaForm
        schema={SCHEMA}
        value={document as unknown as Json}
        without={OTHERS}
        problems={problems}
        refusal={refusal}
        onChange={putInWorkflow}
      />
      <dl className="facts">
        <dt>{t("inspector.slug")}</dt>
        <dd>
          <code>{slug ?? ""}</code>
        </dd>
        <dt>{t("inspector.published")}</dt>
        <dd>{version ? t("inspector.version", { number: version }) : t("inspector.notYet")}</dd>
        <dt>{t("inspector.tasks")}</dt>
        <dd>{everyTask(document).length}</dd>
      </dl>
      <p className="subtle">{t("inspector.selectATaskAnEdge")}</p>
    </>
  );
}
