// The stream of states: opened, closed while nobody looks, opened again from where it was.
import { probe } from "./api.js";

const LEAST_WAIT = 1000;
const MOST_WAIT = 5000;

/** Calls `take(kind, data)` for each frame, and `tell(state)` with one of connecting, live,
 *  reconnecting, paused, "signed out", gone, finished. */
export class Stream {
  #source = null;
  #last = "";
  #timer = 0;
  #wait = LEAST_WAIT;
  #over = "";

  constructor(address, asked, take, tell) {
    Object.assign(this, { address, asked, take, tell });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#rest() : this.#wake()));
    window.addEventListener("online", () => this.#wake());
    // A page that is left keeps no stream; one that comes back from the browser's cache needs one.
    window.addEventListener("pagehide", () => this.#close());
    window.addEventListener("pageshow", (event) => event.persisted && this.#wake());
  }

  open() {
    this.#close();
    if (document.hidden) return this.tell("paused");
    this.tell(this.#last ? "reconnecting" : "connecting");
    const query = this.#last ? `?last=${encodeURIComponent(this.#last)}` : "";
    const source = (this.#source = new EventSource(this.address + query));
    for (const kind of ["snapshot", "state", "end"]) source.addEventListener(kind, (event) => this.#frame(kind, event));
    source.addEventListener("open", () => this.tell("live"));
    source.addEventListener("error", () => {
      if (source !== this.#source) return;
      if (source.readyState === EventSource.CLOSED) this.#again();
      else this.tell("reconnecting");
    });
  }

  #frame(kind, event) {
    if (event.lastEventId) this.#last = event.lastEventId;
    this.#wait = LEAST_WAIT;
    const data = event.data ? JSON.parse(event.data) : {};
    if (kind !== "end") return this.take(kind, data);
    this.#stop("finished");
    this.take(kind, data);
  }

  // The browser gives up for good on any answer but 200: ask what is wrong, and open it again.
  async #again() {
    this.#close();
    this.tell("reconnecting");
    const status = await probe(this.asked);
    if (status === 401 || status === 403) return this.#stop("signed out");
    if (status === 404) return this.#stop("gone");
    this.#timer = setTimeout(() => this.open(), this.#wait);
    this.#wait = Math.min(MOST_WAIT, this.#wait * 2);
  }

  #stop(state) {
    this.#close();
    this.#over = state;
    this.tell(state);
  }

  #rest() {
    if (this.#over) return;
    this.#close();
    this.tell("paused");
  }

  // Also after the end: a dead step may have been requeued meanwhile, and then it goes on.
  #wake() {
    if (document.hidden || this.#over === "gone") return;
    this.#over = "";
    if (this.#source === null) this.open();
  }

  #close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }
}
