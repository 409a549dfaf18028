// The timeline: a table of which only the rows in sight exist, with a bar a run.
import { moved, ticks, whole, zoomed } from "./axis.js";
import { lengthOf, partsOf } from "./bars.js";
import { el, icon, say } from "./elements.js";
import { rowsOf } from "./rows.js";
import { markOfRun } from "./states.js";
import { spoken, took } from "./times.js";

const ROW = 28;
const SPARE = 8;
const PART_NAMES = { backoff: "backing off", queued: "queued", waiting: "waiting", running: "running" };

export class Timeline {
  which = "all";
  rolledBack = false;
  folded = new Set();
  rows = [];
  /** "fit" shows all and grows; "follow" keeps now at the right end; "free" stays. */
  mode = "fit";
  view = { from: 0, to: 1000 };
  critical = new Set();
  #shown = new Map();
  #wanted = false;
  #aiming = true;
  #now = 0;

  constructor(box, { store, selection, choose, changed }) {
    Object.assign(this, { box, store, selection, choose, changed });
    this.scroller = box.querySelector(".vm-scroller");
    this.table = box.querySelector("table");
    this.axis = box.querySelector(".vm-axis");
    this.body = box.querySelector("tbody");
    this.empty = box.querySelector(".vm-empty");
    [this.above, this.below] = [this.#pad(), this.#pad()];
    this.body.append(this.above, this.below);
    this.#listen();
  }

  /** The runs changed; unless `anew`, there are the same ones as before, and in the same order. */
  update(anew = true) {
    if (anew || this.which !== "all") this.#list();
    else for (const row of this.rows) row.run = this.store.runs.get(row.run.id) ?? row.run;
    this.repaint();
  }

  #list() {
    const now = this.store.now();
    this.rows = rowsOf([...this.store.runs.values()], this.which, { now, rolledBack: this.rolledBack, folded: this.folded });
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
  }

  /** Draw once, in the next frame; scrolling alone moves no bar. */
  repaint(aim = true) {
    this.#aiming ||= aim;
    if (this.#wanted) return;
    this.#wanted = true;
    requestAnimationFrame(() => {
      this.#wanted = false;
      this.#paint();
    });
  }

  setMode(mode) {
    this.mode = mode;
    this.changed();
    this.repaint();
  }

  zoom(factor, point = 0.5) {
    if (this.mode === "follow") this.view = zoomed(this.view, factor, 1);
    else {
      this.view = zoomed(this.view, factor, point);
      this.mode = "free";
    }
    this.changed();
    this.repaint();
  }

  pan(share) {
    this.view = moved(this.view, share);
    this.setMode("free");
  }

  /** Scroll the selected run into sight; with `focus`, its button gets the keyboard. */
  show(id = this.selection.run, focus = false) {
    const index = this.rows.findIndex((row) => row.run.id === id);
    if (index < 0) return;
    this.#paint(); // or the table may not be high enough to be scrolled so far
    const top = index * ROW;
    const room = this.scroller.clientHeight - this.table.tHead.offsetHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + ROW > this.scroller.scrollTop + room) this.scroller.scrollTop = top + ROW - room;
    this.#paint();
    if (focus) this.#shown.get(id)?.button.focus({ preventScroll: true });
  }

  get start() {
    const { execution } = this.store;
    return execution ? (execution.createdAt ?? 0) : 0;
  }

  #range() {
    const now = this.store.now();
    const { execution } = this.store;
    let end = execution?.finishedAt ?? now;
    // What a requeue added, or what ended after the execution did.
    for (const run of this.store.runs.values()) end = Math.max(end, run.finishedAt ?? 0);
    return whole(this.start, end);
  }

  #aim() {
    this.#aiming = false;
    const now = (this.#now = this.store.now());
    if (this.mode === "fit") this.view = this.#range();
    if (this.mode === "follow") {
      const span = this.view.to - this.view.from;
      this.view = { from: now - span * 0.95, to: now + span * 0.05 };
    }
    this.#paintAxis(now);
  }

  #paint() {
    if (this.#aiming) this.#aim();
    const now = this.#now;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - SPARE);
    const many = Math.ceil(this.scroller.clientHeight / ROW) + 2 * SPARE;
    const seen = this.rows.slice(first, first + many);
    this.above.style.height = `${first * ROW}px`;
    this.below.style.height = `${Math.max(0, this.rows.length - first - seen.length) * ROW}px`;
    this.#place(seen, first, now);
    this.empty.hidden = this.rows.length > 0;
    this.table.hidden = this.rows.length === 0;
  }

  #paintAxis(now) {
    const width = this.axis.clientWidth || 600;
    const found = ticks(this.view, this.start, width);
    while (this.axis.children.length < found.length) this.axis.append(el("span", { class: "vm-tick" }));
    [...this.axis.children].forEach((tick, index) => {
      tick.hidden = index >= found.length;
      if (tick.hidden) return;
      say(tick, found[index].label);
      tick.style.left = `${this.#share(found[index].at) * 100}%`;
    });
    const live = this.store.execution && this.store.execution.finishedAt === null;
    this.box.style.setProperty("--vm-now", live ? `${Math.min(1, Math.max(0, this.#share(now))) * 100}%` : "-1%");
  }

  #share(time) {
    return (time - this.view.from) / (this.view.to - this.view.from);
  }

  // Rows that stay keep their elements: a button that has the keyboard is never moved.
  #place(seen, first, now) {
    const kept = new Set(seen.map((row) => row.run.id));
    for (const [id, row] of this.#shown) {
      if (kept.has(id)) continue;
      row.line.remove();
      this.#shown.delete(id);
    }
    const focusable = kept.has(this.selection.run) ? this.selection.run : seen.find((row) => this.#shown.get(row.run.id)?.button === document.activeElement)?.run.id ?? seen[0]?.run.id;
    let after = this.above;
    seen.forEach((row, index) => {
      const line = this.#shown.get(row.run.id) ?? this.#made(row.run.id);
      if (after.nextSibling !== line.line) after.after(line.line);
      after = line.line;
      this.#fill(line, row, first + index, now);
      line.button.tabIndex = row.run.id === focusable ? 0 : -1;
    });
  }

  #made(id) {
    const button = el("button", { type: "button", class: "vm-name", "data-run": id });
    const name = el("span", { class: "vm-step", "aria-hidden": "true" });
    const state = el("span", { class: "material-symbols-outlined", "aria-hidden": "true" });
    const about = el("span", { class: "vm-about", "aria-hidden": "true" });
    const told = el("span", { class: "vm-unseen" });
    button.append(state, name, about, told);
    const fold = el("button", { type: "button", class: "vm-fold", hidden: "" }, icon("expand_more"));
    const bars = el("div", { class: "vm-bars", "data-run": id, "aria-hidden": "true" });
    const line = el("tr", { class: "vm-row" }, el("th", { scope: "row" }, el("div", { class: "vm-head" }, fold, button)), el("td", {}, bars));
    const made = { line, button, name, state, about, told, fold, bars, was: "", view: null, run: null };
    this.#shown.set(id, made);
    return made;
  }

  #fill(line, row, index, now) {
    const { run } = row;
    const mark = markOfRun(run, now);
    const length = lengthOf(run, now);
    const chosen = run.id === this.selection.run;
    const critical = this.critical.has(run.id);
    const folded = row.inside ? this.folded.has(run.stepPath) : null;
    // Most rows are as they were: nothing of them is touched.
    const is = [index, mark.word, took(length), chosen, critical, run.superseded, row.depth, row.turn, row.inside, folded].join("|");
    if (is !== line.was) this.#write(line, row, { index, mark, length, chosen, critical });
    line.was = is;
    if (line.run === run && line.view === this.view && run.finishedAt !== null) return;
    Object.assign(line, { run, view: this.view });
    this.#fillBars(line.bars, run, now);
  }

  #write(line, { run, depth, name, inside, turn }, { index, mark, length, chosen, critical }) {
    const stem = `${turn ? `${turn}.` : ""}${name}`.replace(/\.main$/, "");
    line.line.setAttribute("aria-rowindex", String(index + 2));
    line.line.className = `vm-row vm-${mark.colour}${chosen ? " vm-chosen" : ""}${critical ? " vm-critical" : ""}${run.superseded ? " vm-superseded" : ""}`;
    line.button.style.paddingLeft = `${0.25 + depth * 0.9}rem`;
    line.button.title = `${run.stepPath}, attempt ${run.attempt}, ${mark.word}`;
    say(line.state, mark.icon);
    say(line.name, run.attempt > 1 ? `${stem} #${run.attempt}` : stem);
    say(line.about, length === null ? mark.word : took(length));
    const parts = [run.stepPath.replace(/\.main$/, ""), `attempt ${run.attempt}`, mark.word];
    if (length !== null) parts.push(spoken(length));
    if (critical) parts.push("on the critical path");
    say(line.told, parts.join(", "));
    if (chosen) line.button.setAttribute("aria-current", "true");
    else line.button.removeAttribute("aria-current");
    this.#fillFold(line, run, inside);
  }

  #fillFold(line, run, inside) {
    line.fold.hidden = !inside;
    if (!inside) return;
    const folded = this.folded.has(run.stepPath);
    line.fold.dataset.path = run.stepPath;
    line.fold.setAttribute("aria-expanded", String(!folded));
    line.fold.setAttribute("aria-label", `${inside} runs inside ${run.stepPath.replace(/\.main$/, "")}`);
    say(line.fold.firstChild, folded ? "chevron_right" : "expand_more");
  }

  #fillBars(bars, run, now) {
    const parts = partsOf(run, now);
    while (bars.children.length < parts.length) bars.append(el("i"));
    while (bars.children.length > parts.length) bars.lastChild.remove();
    parts.forEach((part, index) => {
      const [from, to] = [this.#share(part.from), this.#share(part.to)].map((share) => Math.min(1.01, Math.max(-0.01, share)));
      const bar = bars.children[index];
      bar.className = `vm-part vm-part-${part.kind}${part.kind === "running" ? ` vm-part-${run.state.toLowerCase()}` : ""}`;
      bar.style.left = `${from * 100}%`;
      bar.style.width = `${(to - from) * 100}%`;
      bar.title = `${PART_NAMES[part.kind]} ${took(part.to - part.from)}`;
    });
  }

  #pad() {
    return el("tr", { class: "vm-pad", "aria-hidden": "true" }, el("td", { colspan: "2" }));
  }

  #listen() {
    this.scroller.addEventListener("scroll", () => this.repaint(false), { passive: true });
    new ResizeObserver(() => this.repaint()).observe(this.scroller);
    this.scroller.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.body.addEventListener("click", (event) => this.#click(event));
    this.body.addEventListener("keydown", (event) => this.#key(event));
    this.#drags();
  }

  #wheel(event) {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.metaKey && !sideways) return;
    event.preventDefault();
    const box = this.axis.getBoundingClientRect();
    if (sideways && !event.ctrlKey) return this.pan((event.deltaX || event.deltaY) / box.width);
    this.zoom(Math.exp(-event.deltaY / 300), Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
  }

  #drags() {
    let from = null;
    this.axis.addEventListener("pointerdown", (event) => {
      from = event.clientX;
      this.axis.setPointerCapture(event.pointerId);
    });
    this.axis.addEventListener("pointermove", (event) => {
      if (from === null) return;
      this.pan((from - event.clientX) / this.axis.clientWidth);
      from = event.clientX;
    });
    this.axis.addEventListener("pointerup", () => (from = null));
  }

  #click(event) {
    const fold = event.target.closest("[data-path]");
    if (fold) {
      const path = fold.dataset.path;
      if (!this.folded.delete(path)) this.folded.add(path);
      return this.update();
    }
    const found = event.target.closest("[data-run]");
    if (found) this.choose(found.dataset.run);
  }

  #key(event) {
    const button = event.target.closest("button[data-run]");
    if (!button || event.ctrlKey || event.metaKey || event.altKey) return;
    const index = this.rows.findIndex((row) => row.run.id === button.dataset.run);
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (step !== undefined) {
      const next = this.rows[Math.min(this.rows.length - 1, Math.max(0, index + step))];
      if (next) {
        this.choose(next.run.id);
        this.show(next.run.id, true);
      }
    } else if (event.key === "ArrowLeft") this.pan(-0.1);
    else if (event.key === "ArrowRight") this.pan(0.1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
