// The panel on the right: what is selected, with tabs; asks the API for what the stream leaves out.
import { Refused, ask } from "./api.js";
import { el, iconButton, mark, say } from "./elements.js";
import * as ofExecution from "./execution_tabs.js";
import * as ofRun from "./run_tabs.js";
import { NOT_BEGUN, markOfRun } from "./states.js";
import { Tabs } from "./tabs.js";
import { copyButton } from "./values.js";

const WHY_AGAIN = 5000;

export class Panel {
  #full = new Map();
  #asked = null;
  #timer = 0;

  constructor(box, { store, selection, graph, addresses, choose }) {
    Object.assign(this, { box, store, selection, graph, addresses, choose });
    this.title = box.querySelector("h2");
    this.about = box.querySelector(".vm-about-line");
    this.tools = box.querySelector(".vm-tools");
    this.body = box.querySelector(".vm-panel-body");
    this.tabs = new Tabs(box.querySelector(".vm-tabs"), this.body, { label: "Details", changed: () => this.show(true) });
    this.show();
  }

  get run() {
    return this.store.runs.get(this.selection.run) ?? null;
  }

  /** What is selected changed, or what is known of it; `anew` asks again for what was asked. */
  show(anew = false) {
    const { run } = this;
    this.#head(run);
    this.tabs.offer(run ? ofRun.NAMES : ofExecution.NAMES);
    const key = run ? `${run.id} ${run.state}` : `${this.tabs.current} ${this.store.execution?.state}`;
    if (this.#asked && this.#asked.for !== key) {
      this.#asked.stop();
      this.#asked = null;
    }
    if (run || this.tabs.current === "Overview" || anew) clearTimeout(this.#timer);
    if (run) this.#showRun(run, key);
    else this.#showExecution(key, anew);
  }

  /** Time passed: what is told in words of time is told anew. */
  tick() {
    const { run } = this;
    if ((run && this.tabs.current === "Summary") || (!run && this.tabs.current === "Overview")) this.show();
  }

  #context() {
    return { now: this.store.now(), addresses: this.addresses, choose: this.choose };
  }

  #head(run) {
    if (run) {
      say(this.title, run.stepPath);
      this.about.replaceChildren(mark(markOfRun(run, this.store.now())));
      return this.#steps(run);
    }
    const node = this.graph.byPath.get(this.selection.task);
    say(this.title, node ? node.title : "The execution");
    this.about.replaceChildren(...(node ? [mark(NOT_BEGUN), ` ${node.steps.map((step) => step.module).join(", ")}`] : []));
    this.tools.replaceChildren(...(node ? [this.#close()] : []));
    this.tools.dataset.for = "";
  }

  // The buttons between attempts; kept where nothing changed, for whoever has the keyboard on one.
  #steps(run) {
    const attempts = this.store.attempts(run);
    const index = attempts.findIndex((other) => other.id === run.id);
    const key = `${run.id} ${attempts.length} ${run.state}`;
    if (this.tools.dataset.for === key) return;
    this.tools.dataset.for = key;
    const step = (icon, label, to) => {
      const button = iconButton(icon, label, () => this.choose(to.id));
      if (!to) button.disabled = true;
      return button;
    };
    this.tools.replaceChildren(
      step("chevron_left", "Previous attempt", attempts[index - 1]),
      el("span", { class: "vm-of", text: `attempt ${index + 1} of ${attempts.length}` }),
      step("chevron_right", "Next attempt", attempts[index + 1]),
      this.#close(),
    );
  }

  #close() {
    return iconButton("close", "Show the execution", () => this.choose(null));
  }

  #showRun(run, fresh) {
    const name = this.tabs.current;
    const kept = this.#full.get(fresh) ?? null;
    const error = kept instanceof Refused ? [el("p", { class: "vm-error", role: "alert", text: kept.message })] : null;
    const full = error ? null : kept;
    const copy = full && name === "Summary" ? [copyButton(JSON.stringify(full, null, 2), "Copy as JSON")] : [];
    this.#fill([...(error ?? []), ...(error && name !== "Summary" && name !== "Error" ? [] : ofRun.tabOf(name, run, full, this.#context())), ...copy]);
    if (kept === null && this.#asked?.for !== fresh) this.#load(run, fresh);
  }

  async #load(run, fresh) {
    const abort = new AbortController();
    this.#asked = { for: fresh, stop: () => abort.abort() };
    try {
      this.#keep(fresh, await ask(this.addresses.run(run.id), abort.signal));
    } catch (error) {
      if (error instanceof Refused) this.#keep(fresh, error);
      else if (error.name !== "AbortError") throw error;
    }
    if (this.#asked?.for === fresh) this.#asked = null;
    this.show();
  }

  #keep(fresh, full) {
    if (this.#full.size > 50) this.#full.clear();
    this.#full.set(fresh, full);
  }

  #showExecution(key, anew) {
    const name = this.tabs.current;
    if (name === "Overview") return this.#fill(ofExecution.overview(this.store, this.#context()));
    if (this.#asked || (!anew && this.body.dataset.shown === key)) return;
    if (!this.body.dataset.shown?.startsWith(`${name} `)) this.#fill([el("p", { class: "vm-note", text: "Loading…" })]);
    this.#ask(name, key);
  }

  async #ask(name, key) {
    const abort = new AbortController();
    const asked = (this.#asked = { for: key, stop: () => abort.abort() });
    const context = this.#context();
    try {
      const found = name === "Why" ? await ofExecution.why(this.addresses.explain, context, abort.signal) : await ofExecution.payload(name, context, abort.signal);
      if (this.#asked !== asked) return;
      this.#fill(found);
      this.body.dataset.shown = key;
      if (name === "Why") this.#timer = setTimeout(() => this.#again(), WHY_AGAIN);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      if (this.#asked === asked) this.#asked = null;
    }
  }

  #again() {
    if (!document.hidden) this.show(true);
    else this.#timer = setTimeout(() => this.#again(), WHY_AGAIN);
  }

  // Only what differs is put in: a selection of text, or the keyboard's place, would be lost.
  #fill(children) {
    delete this.body.dataset.shown;
    const next = el("div", {}, ...children);
    if (this.body.firstElementChild?.isEqualNode(next)) return;
    this.body.replaceChildren(next);
  }
}
