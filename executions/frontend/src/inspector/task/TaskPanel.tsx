import { modulesOf } from "../../document/modules";
import type { TaskPath } from "../../document/types";
import type { Pointer } from "../../forms/pointer";
import { type Tab, Tabs } from "../../shared/Tabs";
import { useStudio } from "../../store/studio";
import { t } from "../../words/t";
import { DataDrawer } from "../data/DataDrawer";
import { countBelow, useProblemsOf, useTask } from "../editing";
import { type TaskTab, useView } from "../view";
import { About } from "./About";
import { Chain } from "./Chain";
import { Parameters } from "./Parameters";
import { Settings } from "./Settings";
import { TaskHead } from "./TaskHead";
import { UndoStep } from "./UndoStep";

/** A task: its name, modules, inputs and settings, and its data in the displayed execution. */
export function TaskPanel({ path }: { path: TaskPath }) {
  const task = useTask(path);
  const tab = useView((state) => state.task);
  const wanted = useView((state) => state.module);
  const problems = useProblemsOf(path);
  const types = useStudio((state) => state.types);
  if (!task) return null;
  const modules = modulesOf(task);
  const at = Math.min(wanted, Math.max(0, modules.length - 1));
  const module = modules[at];
  const base: Pointer = task.modules ? ["modules", at] : [];
  const isParameter = (key: string): boolean => /^(modules\/\d+\/)?(with|use)(\/|$)/.test(key);
  const isUndo = (key: string): boolean => /^undo(\/|$)/.test(key);
  const isHead = (key: string): boolean => ["", "id", "name"].includes(key);
  const tabs: Tab<TaskTab>[] = [
    {
      key: "parameters",
      label: t("inspector.parameters"),
      problems: countBelow(problems, isParameter),
    },
    {
      key: "settings",
      label: t("inspector.settings"),
      problems: countBelow(problems, (key) => !isParameter(key) && !isHead(key) && !isUndo(key)),
    },
    { key: "undo", label: t("inspector.undo"), problems: countBelow(problems, isUndo) },
    { key: "about", label: t("inspector.about") },
  ];
  const type = module && types.get(module.use);
  return (
    <>
      <TaskHead path={path} task={task} type={type} problems={problems} />
      <Chain path={path} task={task} modules={modules} at={at} />
      <Tabs
        label={t("inspector.partsOfTheTask")}
        tabs={tabs}
        current={tab}
        onChange={(key) => useView.setState({ task: key })}
      >
        {tab === "parameters" && module && (
          <Parameters
            key={`${at}:${module.use}`}
            {...{ path, task, module, type, base, at, problems }}
          />
        )}
        {tab === "settings" && (
          <Settings key={at} {...{ path, task, module, type, base, problems }} />
        )}
        {tab === "undo" && <UndoStep key={task.undo?.use} {...{ path, task, problems }} />}
        {tab === "about" && <About use={module?.use ?? ""} type={type} />}
      </Tabs>
      <DataDrawer path={path} module={at} />
    </>
  );
}
