/** Watches the page's execution, and copies its stream to the stores. */
import { tasksOf } from "../live/aggregate";
import { Following } from "../live/following";
import { type Known, type RunRow, retriesIn } from "../live/frames";
import { useLiveStore } from "../live/live";
import { useStudio } from "../store/studio";
import { criticalPath, waysOf } from "./critical";
import { timed } from "./runs";
import { sayNews } from "./saying";
import { serverTime, useMonitor } from "./store";

/**
 * Minimum time between updates of the critical path, in milliseconds. It is expensive to compute,
 * and users do not need ten updates per second.
 */
const CRITICAL_AGAIN = 1000;

/** Watch the execution, and return a function that stops this. The document must be loaded. */
export function watchExecution(execution: string): () => void {
  const ways = waysOf(useStudio.getState().history.present);
  const findCritical = seldom(CRITICAL_AGAIN, () => {
    const { runs } = useMonitor.getState();
    useMonitor.setState({ critical: criticalPath(ways, runs, serverTime()) });
  });
  useLiveStore.setState({ watched: execution });
  const following = new Following(
    execution,
    {
      took: (known, before) => {
        take(known);
        findCritical();
        sayNews(known, before);
      },
      told: (connection) => useLiveStore.setState({ connection }),
    },
    true,
  );
  return () => following.stop();
}

function take({ execution, runs, more, skew }: Known): void {
  const document = useStudio.getState().history.present;
  const { tasks: before } = useLiveStore.getState();
  const rows: RunRow[] = [...runs.values()];
  const known = rows.map(timed);
  useMonitor.setState({ runs: known, byId: new Map(known.map((run) => [run.id, run])), more });
  useLiveStore.setState({
    tasks: tasksOf(rows, document, before),
    execution,
    retries: retriesIn(rows),
    skew,
  });
}

/**
 * Return a function that calls `act` at once, and then at most every `least` milliseconds; a
 * suppressed call is made up for at the end.
 */
function seldom(least: number, act: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = (): void => {
    timer = undefined;
    last = performance.now();
    act();
  };
  return () => {
    const left = last + least - performance.now();
    if (left <= 0) run();
    else if (timer === undefined) timer = setTimeout(run, left);
  };
}
