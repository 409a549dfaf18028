// The bar at the top: state, times, retries, the connection; and what can be done now.
import { el, icon, mark, say } from "./elements.js";
import { markOf } from "./states.js";
import { ago, stamp, took } from "./times.js";

const CONNECTIONS = {
  connecting: ["connecting", "sync", "grey"],
  live: ["live", "sensors", "green"],
  reconnecting: ["reconnecting", "sync_problem", "amber"],
  paused: ["paused", "pause_circle", "grey"],
  "signed out": ["signed out", "lock", "red"],
  gone: ["gone", "cloud_off", "red"],
  finished: ["finished", "flag", "grey"],
};

export class Top {
  #state = "";

  constructor(box, { store, addresses }) {
    Object.assign(this, { box, store, addresses });
    const find = (name) => box.querySelector(`[data-top=${name}]`);
    for (const name of ["state", "connection", "started", "elapsed", "retries", "dead", "note"]) this[name] = find(name);
  }

  /** How the stream is. */
  connection_is(state) {
    const [word, name, colour] = CONNECTIONS[state];
    this.connection.replaceChildren(mark({ word, icon: name, colour }));
    const asked = { "signed out": ["Sign in again", this.addresses.signIn], gone: ["All executions", this.addresses.executions] }[state];
    this.note.replaceChildren(...(asked ? [NOTES[state], " ", el("a", { class: "vk-link", href: asked[1], text: asked[0] })] : []));
  }

  /** The execution or its runs changed. */
  update() {
    const { execution, runs } = this.store;
    if (!execution) return;
    if (execution.state !== this.#state) {
      this.state.replaceChildren(mark(markOf(execution.state)));
      if (this.#state) this.#renewButtons();
      this.#state = execution.state;
    }
    let [retries, dead] = [0, 0];
    for (const run of runs.values()) {
      if (run.superseded) continue;
      if (run.attempt > 1) retries += 1;
      if (run.state === "DLQ") dead += 1;
    }
    say(this.retries, String(retries));
    // What is dead in a test run has no dead letter.
    this.dead.hidden = dead === 0 || this.box.dataset.test === "true";
    if (dead) this.dead.replaceChildren(icon("inbox"), `Dead letters (${dead})`);
    this.tick();
  }

  // The buttons are the server's: which are allowed now, and why others are not. One that was just
  // pressed is kept until its dialog is there: nobody else would open it.
  #renewButtons() {
    const pressed = this.box.querySelector("#vm-actions .htmx-request");
    if (pressed) pressed.addEventListener("htmx:afterRequest", () => this.#renewButtons(), { once: true });
    else htmx.ajax("GET", location.pathname, { target: "#vm-actions", select: "#vm-actions", swap: "outerHTML" });
  }

  tick() {
    const { execution } = this.store;
    if (!execution) return;
    const now = this.store.now();
    say(this.started, execution.startedAt === null ? "not yet" : ago(execution.startedAt, now));
    if (execution.startedAt !== null) this.started.title = stamp(execution.startedAt);
    const from = execution.startedAt ?? execution.createdAt;
    say(this.elapsed, took(Math.floor(((execution.finishedAt ?? now) - from) / (execution.finishedAt ? 1 : 1000)) * (execution.finishedAt ? 1 : 1000)));
  }
}

const NOTES = {
  "signed out": "You are signed out; what is shown here is no longer renewed.",
  gone: "This execution is not there any more, or not for you.",
};
