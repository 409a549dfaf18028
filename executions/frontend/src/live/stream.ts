/**
 * The stream of states. It is closed while the page is hidden, and continues at its last position.
 */
import { addressOf } from "../api/place";
import type { Frame, FrameKind } from "./frames";
import type { Connection } from "./live";

const LEAST_WAIT = 1000;
const MOST_WAIT = 5000;
const KINDS: readonly FrameKind[] = ["snapshot", "state", "end"];

export interface Listener {
  take(kind: FrameKind, frame: Frame): void;
  tell(connection: Connection): void;
}

/**
 * Follows one execution until `stop` is called or the execution ends.
 *
 * If it `resumes`, it connects again when the page becomes visible, even after the end: a dead
 * letter may have been requeued meanwhile, or the user may have signed in again.
 */
export class Stream {
  private source: EventSource | null = null;
  private last = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = LEAST_WAIT;
  private over = false;
  private ended: Connection | null = null;
  private readonly leaving = new AbortController();

  constructor(
    private readonly execution: string,
    private readonly listener: Listener,
    private readonly resumes = false,
  ) {
    const signal = this.leaving.signal;
    document.addEventListener("visibilitychange", () => this.seen(), { signal });
    // A page in the browser's back-forward cache closes its stream, and opens it when it is
    // restored.
    addEventListener("pagehide", () => this.close(), { signal });
    addEventListener("pageshow", (event) => event.persisted && this.wake(), { signal });
    addEventListener("online", () => this.wake(), { signal });
    this.open();
  }

  stop(): void {
    this.over = true;
    this.leaving.abort();
    this.close();
  }

  private open(): void {
    this.close();
    if (this.over) return;
    if (document.hidden) {
      this.listener.tell("paused");
      return;
    }
    this.listener.tell(this.last ? "reconnecting" : "connecting");
    const query = this.last ? `?last=${encodeURIComponent(this.last)}` : "";
    const source = new EventSource(ofExecution(this.execution, `/subscribe${query}`));
    this.source = source;
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => this.framed(kind, event));
    }
    source.addEventListener("open", () => this.listener.tell("live"));
    source.addEventListener("error", () => this.broken(source));
  }

  private framed(kind: FrameKind, event: MessageEvent<string>): void {
    if (event.lastEventId) this.last = event.lastEventId;
    this.wait = LEAST_WAIT;
    if (kind === "end") this.finish("finished");
    this.listener.take(kind, (event.data ? JSON.parse(event.data) : {}) as Frame);
  }

  private broken(source: EventSource): void {
    if (source !== this.source) return;
    this.listener.tell("reconnecting");
    if (source.readyState === EventSource.CLOSED) void this.again();
  }

  /** The browser stops for good after any status except 200. Find the cause, then connect again. */
  private async again(): Promise<void> {
    this.close();
    const status = await statusOf(this.execution);
    if (this.over) return;
    if (status === 401 || status === 403) return this.finish("signed out");
    if (status === 404) return this.finish("gone");
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(MOST_WAIT, this.wait * 2);
  }

  private finish(connection: Connection): void {
    if (this.resumes && connection !== "gone") this.close();
    else this.stop();
    this.ended = connection;
    this.listener.tell(connection);
  }

  private seen(): void {
    if (!document.hidden) this.wake();
    else if (this.ended === null) {
      this.close();
      this.listener.tell("paused");
    }
  }

  private wake(): void {
    if (document.hidden || this.source !== null) return;
    this.ended = null;
    this.open();
  }

  private close(): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }
}

const ofExecution = (execution: string, below = ""): string =>
  addressOf(`v1/WorkflowExecution/${execution}${below}`);

/** Return the status for a request for the execution; 0 if the server cannot be reached. */
async function statusOf(execution: string): Promise<number> {
  try {
    return (await fetch(ofExecution(execution), { method: "HEAD", cache: "no-store" })).status;
  } catch {
    return 0;
  }
}
