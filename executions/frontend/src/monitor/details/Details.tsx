import { nameOf } from "../../canvas/names";
import { modulesOf } from "../../document/modules";
import { taskAt } from "../../document/paths";
import type { Task } from "../../document/types";
import { NOT_BEGUN } from "../../live/states";
import { Tabs } from "../../shared/Tabs";
import { useDocument } from "../../store/studio";
import { t } from "../../words/t";
import type { Key } from "../../words/types";
import { IconButton, StateMark } from "../pieces";
import { attemptsOf, markOfRun, type Run } from "../runs";
import { choose } from "../selecting";
import { useMonitor, useRun, useServerTime } from "../store";
import { EXECUTION_TABS, ExecutionTab, type ExecutionTabName } from "./ExecutionTab";
import { Forks } from "./Forks";
import { RUN_TABS, RunTab, type RunTabName } from "./RunTab";

/** The selected run or task, or the execution if nothing is selected, in tabs. */
export function Details() {
  const run = useRun();
  const path = useMonitor((state) => state.task);
  const document = useDocument();
  const task = run === null && path !== null ? taskAt(document, path) : undefined;
  const title = run ? run.stepPath : task ? nameOf(task) : t("monitor.theExecution");
  return (
    <section className="vk-panel vm-panel" aria-label={t("shared.details")}>
      <div className="vm-bar">
        <h2>{title}</h2>
        <span className="vm-space" />
        <span className="vm-tools">
          {run && <Attempts run={run} />}
          {(run || task) && (
            <IconButton
              icon="close"
              label={t("monitor.showTheExecution")}
              onClick={() => choose()}
            />
          )}
        </span>
      </div>
      {run && <RunLine run={run} />}
      {run && <Forks key={run.id} path={run.stepPath} />}
      {task && <TaskLine task={task} />}
      {run ? <OfRun run={run} /> : <OfExecution />}
    </section>
  );
}

function RunLine({ run }: { run: Run }) {
  const now = useServerTime(1000);
  return (
    <p className="vm-about-line">
      <StateMark mark={markOfRun(run, now)} />
    </p>
  );
}

const TaskLine = ({ task }: { task: Task }) => (
  <p className="vm-about-line">
    <StateMark mark={NOT_BEGUN} />{" "}
    {modulesOf(task)
      .map(({ use }) => use)
      .join(", ")}
  </p>
);

/** The buttons for the previous and the next attempt of a step. */
function Attempts({ run }: { run: Run }) {
  const runs = useMonitor((state) => state.runs);
  const attempts = attemptsOf(run, runs);
  const index = attempts.findIndex(({ id }) => id === run.id);
  const [previous, next] = [attempts[index - 1], attempts[index + 1]];
  return (
    <>
      <IconButton
        icon="chevron_left"
        label={t("monitor.previousAttempt")}
        disabled={previous === undefined}
        onClick={() => previous && choose({ run: previous.id })}
      />
      <span className="vm-of">
        {t("monitor.attemptOf", { number: index + 1, count: attempts.length })}
      </span>
      <IconButton
        icon="chevron_right"
        label={t("monitor.nextAttempt")}
        disabled={next === undefined}
        onClick={() => next && choose({ run: next.id })}
      />
    </>
  );
}

/** Return the chosen tab if it exists here, else the first. */
function useTab<T extends string>(names: readonly T[]): T {
  const chosen = useMonitor((state) => state.tab);
  return names.find((name) => name === chosen) ?? (names[0] as T);
}

const TABS = {
  Overview: "monitor.tabOverview",
  Why: "monitor.tabWhy",
  Variables: "monitor.tabVariables",
  Summary: "monitor.tabSummary",
  Input: "monitor.tabInput",
  Output: "monitor.tabOutput",
  Error: "monitor.tabError",
  Log: "monitor.tabLog",
  Children: "monitor.tabChildren",
} as const satisfies Record<RunTabName | ExecutionTabName, Key>;

const tabsOf = <T extends keyof typeof TABS>(names: readonly T[]): { key: T; label: string }[] =>
  names.map((name) => ({ key: name, label: t(TABS[name as keyof typeof TABS]) }));
const OF_RUN = tabsOf(RUN_TABS);
const OF_EXECUTION = tabsOf(EXECUTION_TABS);
const open = (tab: string): void => useMonitor.setState({ tab });

function OfRun({ run }: { run: Run }) {
  const tab = useTab(RUN_TABS);
  return (
    <Tabs label={t("shared.details")} tabs={OF_RUN} current={tab} onChange={open} scrolls>
      <RunTab key={tab} name={tab} run={run} />
    </Tabs>
  );
}

function OfExecution() {
  const tab = useTab(EXECUTION_TABS);
  return (
    <Tabs label={t("shared.details")} tabs={OF_EXECUTION} current={tab} onChange={open} scrolls>
      <ExecutionTab name={tab} />
    </Tabs>
  );
}

/** Return the names of the present tabs, in order. */
export const tabsNow = (): readonly string[] => {
  const { run, byId } = useMonitor.getState();
  return run !== null && byId.has(run) ? RUN_TABS : EXECUTION_TABS;
};
