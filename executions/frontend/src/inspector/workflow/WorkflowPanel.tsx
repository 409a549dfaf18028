import { type Tab, Tabs } from "../../shared/Tabs";
import { useDocument } from "../../store/studio";
import { t } from "../../words/t";
import { countBelow, useProblemsOf } from "../editing";
import { useView, type WorkflowTab } from "../view";
import { General } from "./General";
import { InputFields } from "./InputFields";
import { Triggers } from "./Triggers";
import { Variables } from "./Variables";
import { WorkflowSettings } from "./WorkflowSettings";

const TABS: readonly [WorkflowTab, string, readonly string[]][] = [
  ["general", t("inspector.general"), ["", "name", "description", "schema", "tasks", "edges"]],
  ["input", t("inspector.input"), ["input"]],
  ["variables", t("inspector.variables"), ["variables"]],
  ["triggers", t("inspector.triggers"), ["triggers"]],
  ["settings", t("inspector.settings"), ["settings", "labels", "output"]],
];

/** The workflow itself: its payload, variables, triggers and settings. */
export function WorkflowPanel() {
  const document = useDocument();
  const tab = useView((state) => state.workflow);
  const problems = useProblemsOf(null);
  const tabs: Tab<WorkflowTab>[] = TABS.map(([key, label, keys]) => ({
    key,
    label,
    problems: countBelow(problems, (at) => keys.includes(at.split("/")[0] ?? "")),
  }));
  return (
    <>
      <h2 className="panel-title">{t("inspector.workflow")}</h2>
      <Tabs
        label={t("inspector.partsOfTheWorkflow")}
        tabs={tabs}
        current={tab}
        onChange={(key) => useView.setState({ workflow: key })}
      >
        {tab === "general" && <General document={document} problems={problems} />}
        {tab === "input" && <InputFields input={document.input} problems={problems} />}
        {tab === "variables" && <Variables document={document} problems={problems} />}
        {tab === "triggers" && <Triggers triggers={document.triggers ?? []} problems={problems} />}
        {tab === "settings" && <WorkflowSettings document={document} problems={problems} />}
      </Tabs>
    </>
  );
}
