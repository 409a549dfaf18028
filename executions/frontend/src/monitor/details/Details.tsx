import { nameOf } from "../../canvas/names";
import { modulesOf } from "../../document/modules";
import { taskAt } from "../../document/paths";
import type { Task } from "../../document/types";
import { NOT_BEGUN } from "../../live/states";
import { Tabs } from "../../shared/Tabs";
import { useDocument } from "../../store/studio";
import { IconButton, StateMark } from "../pieces";
import { attemptsOf, markOfRun, type Run } from "../runs";
import { choose } from "../selecting";
import { useMonitor, useRun, useServerTime } from "../store";
import { EXECUTION_TABS, ExecutionTab } from "./ExecutionTab";
import { RUN_TABS, RunTab } from "./RunTab";

/** What is selected, with tabs; the execution where nothing is. */
export function Details() {
  const run = useRun();
  const path = useMonitor((state) => state.task);
  const document = useDocument();
  const task = run === null && path !== null ? taskAt(document, path) : undefined;
  const title = run ? run.stepPath : task ? nameOf(task) : "The execution";
  return (
    <section className="vk-panel vm-panel" aria-label="Details">
      <div className="vm-bar">
        <h2>{title}</h2>
        <span className="vm-space" />
        <span className="vm-tools">
          {run && <Attempts run={run} />}
          {(run || task) && (
            <IconButton icon="close" label="Show the execution" onClick={() => choose()} />
          )}
        </span>
      </div>
      {run && <RunLine run={run} />}
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

/** The ways between the attempts of a step. */
function Attempts({ run }: { run: Run }) {
  const runs = useMonitor((state) => state.runs);
  const attempts = attemptsOf(run, runs);
  const index = attempts.findIndex(({ id }) => id === run.id);
  const [previous, next] = [attempts[index - 1], attempts[index + 1]];
  return (
    <>
      <IconButton
        icon="chevron_left"
        label="Previous attempt"
        disabled={previous === undefined}
        onClick={() => previous && choose({ run: previous.id })}
      />
      <span className="vm-of">{`attempt ${index + 1} of ${attempts.length}`}</span>
      <IconButton
        icon="chevron_right"
        label="Next attempt"
        disabled={next === undefined}
        onClick={() => next && choose({ run: next.id })}
      />
    </>
  );
}

/** The tab that was chosen, where it is among these. */
function useTab<T extends string>(names: readonly T[]): T {
  const chosen = useMonitor((state) => state.tab);
  return names.find((name) => name === chosen) ?? (names[0] as T);
}

const tabsOf = <T extends string>(names: readonly T[]): { key: T; label: string }[] =>
  names.map((name) => ({ key: name, label: name }));
const OF_RUN = tabsOf(RUN_TABS);
const OF_EXECUTION = tabsOf(EXECUTION_TABS);
const open = (tab: string): void => useMonitor.setState({ tab });

function OfRun({ run }: { run: Run }) {
  const tab = useTab(RUN_TABS);
  return (
    <Tabs label="Details" tabs={OF_RUN} current={tab} onChange={open} scrolls>
      <RunTab key={tab} name={tab} run={run} />
    </Tabs>
  );
}

function OfExecution() {
  const tab = useTab(EXECUTION_TABS);
  return (
    <Tabs label="Details" tabs={OF_EXECUTION} current={tab} onChange={open} scrolls>
      <ExecutionTab name={tab} />
    </Tabs>
  );
}

/** The tabs that are there now, in order. */
export const tabsNow = (): readonly string[] => {
  const { run, byId } = useMonitor.getState();
  return run !== null && byId.has(run) ? RUN_TABS : EXECUTION_TABS;
};
