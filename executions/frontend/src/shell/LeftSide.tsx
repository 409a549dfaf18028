import { Palette } from "../palette/Palette";
import { ExecutionList } from "../running/ExecutionList";
import { type Tab, Tabs } from "../shared/Tabs";
import { t } from "../words/t";
import { type LeftTab, useLeftTab } from "./leftTab";

const TABS: readonly Tab<LeftTab>[] = [
  { key: "modules", label: t("shell.modules") },
  { key: "executions", label: t("shell.executions") },
];

/** The left side: the modules to add, or the latest executions. */
export function LeftSide() {
  const tab = useLeftTab((state) => state.tab);
  return (
    <div className="left-side">
      <Tabs
        label={t("shell.modulesAndExecutions")}
        tabs={TABS}
        current={tab}
        onChange={(next) => useLeftTab.setState({ tab: next })}
      >
        {tab === "modules" ? <Palette /> : <ExecutionList />}
      </Tabs>
    </div>
  );
}
