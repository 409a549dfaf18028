/** The studio's first view: the URL's task and execution, or the newest execution's results. */
import { useEffect } from "react";
import { openLinkedTask } from "../canvas/taskLink";
import { taskOf } from "../live/frames";
import { unwatch, watch } from "../live/watching";
import { useStudio } from "../store/studio";
import { useFork } from "./fork";
import { keepPins } from "./keeping";
import { loadResults } from "./results";

/** Load the pins, and, after the first paint, show the task and the execution. */
export function useOpening(): void {
  const workflow = useStudio((state) => state.workflow?.id);
  useEffect(() => {
    if (workflow === undefined) return;
    const letGo = keepPins(workflow);
    const timer = setTimeout(begin, 0);
    return () => {
      clearTimeout(timer);
      letGo();
      unwatch();
    };
  }, [workflow]);
}

function begin(): void {
  openLinkedTask();
  const query = new URLSearchParams(location.search);
  const execution = query.get("execution");
  const step = query.get("fork");
  if (execution === null) {
    void loadResults();
    return;
  }
  watch(execution);
  if (step === null) return;
  useFork.setState({ origin: { execution, step } });
  useStudio.getState().goTo(taskOf(step));
}
