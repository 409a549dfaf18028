/** Follows an execution's stream, and delivers its frames in batches. */
import { applied, type Frame, type FrameKind, type Known, NOTHING_KNOWN } from "./frames";
import type { Connection } from "./live";
import { Stream } from "./stream";

/** Time between batches, in milliseconds; longer if drawing takes long. */
const BATCH = 100;
const SHARE = 4;

export interface Follower {
  /** Called with the state before and after a batch; `ended` if the batch has the last frame. */
  took(known: Known, before: Known, ended: boolean): void;
  told(connection: Connection): void;
}

/** Follows one execution; see Stream for `resumes`. */
export class Following {
  private known: Known = NOTHING_KNOWN;
  private frames: [FrameKind, Frame][] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = BATCH;
  private readonly stream: Stream;

  constructor(
    execution: string,
    private readonly follower: Follower,
    resumes = false,
  ) {
    const take = (kind: FrameKind, frame: Frame): void => this.take(kind, frame);
    const tell = (connection: Connection): void => follower.told(connection);
    this.stream = new Stream(execution, { take, tell }, resumes);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.stream.stop();
  }

  private take(kind: FrameKind, frame: Frame): void {
    this.frames.push([kind, frame]);
    const first = this.known.execution === null;
    this.timer ??= setTimeout(() => this.flush(), first ? 0 : this.wait);
  }

  private flush(): void {
    const begun = performance.now();
    const before = this.known;
    const ended = this.frames.some(([kind]) => kind === "end");
    const now = Date.now();
    for (const [kind, frame] of this.frames) this.known = applied(this.known, kind, frame, now);
    this.frames = [];
    this.timer = undefined;
    this.follower.took(this.known, before, ended);
    // Runs after the changes were drawn, so the measured time includes drawing.
    setTimeout(() => {
      this.wait = Math.max(BATCH, SHARE * (performance.now() - begun));
    }, 0);
  }
}
