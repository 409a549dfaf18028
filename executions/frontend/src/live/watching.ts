/** Watches one execution: its stream into the store, its results whenever a task ends. */
import { loadResults } from "../running/results";
import { useStudio } from "../store/studio";
import { tasksOf } from "./aggregate";
import {
  applied,
  type Frame,
  type FrameKind,
  type Known,
  NOTHING_KNOWN,
  retriesIn,
} from "./frames";
import { type Connection, type TaskLive, UNWATCHED, useLiveStore } from "./live";
import { sayChanges } from "./saying";
import { ALIVE } from "./states";
import { Stream } from "./stream";

/** Frames are taken together this often, in milliseconds. */
const BATCH = 100;
/** Results are fetched at most this often while tasks end. */
const RESULTS = 800;

let watching: Watching | null = null;

/** Watch this execution, in place of another; of one just started everything is said. */
export function watch(execution: string, { started = false } = {}): void {
  unwatch();
  useLiveStore.setState({ tasks: new Map(), ...UNWATCHED, watched: execution });
  watching = new Watching(execution, started);
}

/** Watch nothing; what is painted stays until other results come. */
export function unwatch(): void {
  watching?.stop();
  watching = null;
  useLiveStore.setState(UNWATCHED);
}

class Watching {
  private known: Known = NOTHING_KNOWN;
  private frames: [FrameKind, Frame][] = [];
  private batch: ReturnType<typeof setTimeout> | undefined;
  private results: ReturnType<typeof setTimeout> | undefined;
  private readonly stream: Stream;

  constructor(
    private readonly execution: string,
    private readonly started: boolean,
  ) {
    this.stream = new Stream(execution, {
      take: (kind, frame) => this.took(kind, frame),
      tell: (connection) => this.told(connection),
    });
  }

  stop(): void {
    clearTimeout(this.batch);
    clearTimeout(this.results);
    this.stream.stop();
  }

  private told(connection: Connection): void {
    useLiveStore.setState({ connection });
  }

  private took(kind: FrameKind, frame: Frame): void {
    this.frames.push([kind, frame]);
    if (this.frames.length === 1) this.batch = setTimeout(() => this.flush(), BATCH);
  }

  private flush(): void {
    const ended = this.frames.some(([kind]) => kind === "end");
    const first = this.known.execution === null;
    const now = Date.now();
    for (const [kind, frame] of this.frames) this.known = applied(this.known, kind, frame, now);
    this.frames = [];
    const { execution, runs, skew } = this.known;
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
