/** Watches one execution: stores its states, and loads its results when tasks end. */
import { loadResults } from "../running/results";
import { useStudio } from "../store/studio";
import { tasksOf } from "./aggregate";
import { Following } from "./following";
import { type Known, retriesIn } from "./frames";
import { type TaskLive, UNWATCHED, useLiveStore } from "./live";
import { sayChanges } from "./saying";
import { ALIVE } from "./states";

/** Minimum time between requests for results while tasks end, in milliseconds. */
const RESULTS = 800;

let watching: Watching | null = null;

/** Watch this execution instead of another; if it was just `started`, announce every change. */
export function watch(execution: string, { started = false } = {}): void {
  unwatch();
  useLiveStore.setState({ tasks: new Map(), ...UNWATCHED, watched: execution });
  watching = new Watching(execution, started);
}

/** Stop watching; the displayed states stay until other results are loaded. */
export function unwatch(): void {
  watching?.stop();
  watching = null;
  useLiveStore.setState(UNWATCHED);
}

class Watching {
  private results: ReturnType<typeof setTimeout> | undefined;
  private readonly following: Following;

  constructor(
    private readonly execution: string,
    private readonly started: boolean,
  ) {
    this.following = new Following(execution, {
      took: (known, before, ended) => this.took(known, before, ended),
      told: (connection) => useLiveStore.setState({ connection }),
    });
  }

  stop(): void {
    clearTimeout(this.results);
    this.following.stop();
  }

  private took({ execution, runs, skew }: Known, past: Known, ended: boolean): void {
    const first = past.execution === null;
    const before = useLiveStore.getState();
    const document = useStudio.getState().history.present;
    const tasks = tasksOf(runs.values(), document, before.tasks);
    const retries = retriesIn(runs.values());
    useLiveStore.setState({ tasks, execution, retries, skew });
    if (!first || this.started) sayChanges(before, { tasks, execution });
    if (ended) this.fetch(0);
    else if (first || someEnded(before.tasks, tasks)) this.fetch(RESULTS);
  }

  private fetch(wait: number): void {
    if (wait > 0 && this.results !== undefined) return;
    clearTimeout(this.results);
    this.results = setTimeout(() => {
      this.results = undefined;
      void loadResults(this.execution);
    }, wait);
  }
}

function someEnded(
  before: ReadonlyMap<string, TaskLive>,
  after: ReadonlyMap<string, TaskLive>,
): boolean {
  return [...after].some(([path, live]) => live !== before.get(path) && !ALIVE.has(live.state));
}
