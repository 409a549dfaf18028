// The live monitor of one execution: puts its parts together. Each part is a file beside this one.
import { Announcer } from "./announcing.js";
import { Refused, ask } from "./api.js";
import { criticalPath } from "./critical.js";
import { el } from "./elements.js";
import { GraphView } from "./graph.js";
import { indexed } from "./graph_states.js";
import { hint } from "./hints.js";
import { listen } from "./keys.js";
import { Panel } from "./panel.js";
import { Selection } from "./selection.js";
import { LIVE, markOf } from "./states.js";
import { Store } from "./store.js";
import { Stream } from "./stream.js";
import { Timeline } from "./timeline.js";
import { Top } from "./top.js";

const ANY = "00000000-0000-0000-0000-000000000000";
// Frames are gathered for so long before anything is drawn anew; longer where drawing takes long.
const GATHERED = 100;
const SHARE = 4;
// The critical path costs most to find, and nobody sees it change ten times a second.
const CRITICAL_AGAIN = 1000;
const TICK = 250;

const page = document.getElementById("monitor");
const find = (selector) => page.querySelector(selector);
const filled = (address) => (id) => address.replace(ANY, encodeURIComponent(id));
const { dataset } = page;
const addresses = {
  explain: dataset.explain,
  execution: dataset.execution,
  children: dataset.children,
  executions: dataset.executions,
  runs: dataset.runs,
  runners: dataset.runners,
  signIn: dataset.signIn,
  run: filled(dataset.run),
  runPage: filled(dataset.runPage),
  approvalPage: filled(dataset.approvalPage),
  childPage: filled(dataset.childPage),
  deadLetters: filled(dataset.deadLetters),
};

const store = new Store();
const selection = new Selection();
const announcer = new Announcer(find("[data-announce]"));

function start(graph) {
  const known = indexed(graph);
  const chooseRun = (id) => selection.choose({ run: id });
  const chooseTask = (path) => {
    const state = view.states.get(path);
    selection.choose(state?.run ? { run: state.run.id } : { task: path }, "graph");
  };
  const top = new Top(find(".vm-top"), { store, addresses });
  const view = new GraphView(find(".vm-graph"), known, { selection, store, choose: chooseTask });
  const timeline = new Timeline(find(".vm-timeline"), { store, selection, choose: chooseRun, changed: () => showModes(timeline) });
  const panel = new Panel(find(".vm-panel"), { store, selection, graph: known, addresses, choose: chooseRun });

  const refresh = (anew) => {
    findCritical();
    top.update();
    view.update();
    timeline.update(anew);
    panel.show();
    find("[data-hint]").textContent = hint(store);
    find("[data-rolled-back]").hidden = ![...store.runs.values()].some((run) => run.superseded);
  };
  const findCritical = seldom(CRITICAL_AGAIN, () => {
    timeline.critical = criticalPath(known, [...store.runs.values()], store.now());
    timeline.repaint();
  });
  let seen = false;
  const frames = gathered((anew) => {
    refresh(anew);
    page.dataset.ready = "yes";
    // What the address selects is brought into sight once there is something to be seen.
    if (seen || !store.execution) return;
    seen = true;
    timeline.show();
    if (selection.run || selection.task) view.show();
    forkFrom(selection, store);
    changeFrom(selection, store);
  });
  const stream = new Stream(dataset.stream, dataset.execution, frames, (state) => {
    top.connection_is(state);
    page.dataset.connection = state.replace(" ", "-");
  });

  selection.watch((from) => {
    if (from !== "graph") view.show();
    else view.repaint();
    timeline.repaint();
    timeline.show();
    panel.show();
    forkFrom(selection, store);
    changeFrom(selection, store);
  });
  // The buttons were renewed: what is selected is their business again.
  page.addEventListener("htmx:afterSettle", () => {
    forkFrom(selection, store);
    changeFrom(selection, store);
  });
  setInterval(() => tick({ top, timeline, panel }), TICK);
  control(view, timeline);
  listen(keys(view, timeline, panel));
  stream.open();
}

// Takes frames as they come, and draws what they changed at most so often. Tells whether other
// runs than before are to be shown.
function gathered(refresh) {
  let timer = 0;
  let wait = 0;
  let anew = true;
  return (kind, data) => {
    const changes = store.apply(kind, data);
    if (kind === "state") announce(changes);
    anew ||= kind === "snapshot" || changes.runs.some(({ before, after }) => before?.superseded !== after.superseded);
    timer ||= setTimeout(() => {
      const begun = performance.now();
      timer = 0;
      refresh(anew);
      anew = false;
      wait = Math.max(GATHERED, SHARE * (performance.now() - begun));
    }, wait);
  };
}

// Calls at once, and then at most so often; what is asked for meanwhile is done in the end.
function seldom(least, act) {
  let last = -Infinity;
  let timer = 0;
  const run = () => {
    timer = 0;
    last = performance.now();
    act();
  };
  return () => {
    const left = last + least - performance.now();
    if (left <= 0) run();
    else timer ||= setTimeout(run, left);
  };
}

// With a run selected, a fork is offered from its step.
function forkFrom(selection, store) {
  const button = find("[data-fork]");
  const run = store.runs.get(selection.run);
  if (!button) return;
  const address = run ? `${button.dataset.fork}?step=${encodeURIComponent(run.stepPath)}` : button.dataset.fork;
  if (button.getAttribute("hx-get") === address) return;
  button.setAttribute("hx-get", address);
  button.setAttribute("href", address);
  button.lastChild.textContent = run ? "Fork from here…" : "Fork…";
  htmx.process(button);
}

// With a run selected, the studio opens to change the workflow and go on from its step.
function changeFrom(selection, store) {
  const link = find("[data-change]");
  const run = store.runs.get(selection.run);
  if (!link) return;
  link.hidden = !run;
  if (!run) return;
  const address = new URL(link.href);
  address.searchParams.set("fork", run.stepPath);
  link.href = address;
}

// Only what somebody must know: where the execution is, and what went wrong.
function announce({ execution: { before, after }, runs }) {
  if (after && after.state !== before?.state) announcer.say(`The execution is ${markOf(after.state).word}.`);
  for (const { before: was, after: run } of runs) {
    if (run.state === was?.state || (run.state !== "FAILED" && run.state !== "DLQ")) continue;
    announcer.say(`${run.stepPath.replace(/\.main$/, "")}, attempt ${run.attempt}, ${markOf(run.state).word}.`);
  }
}

let ticked = 0;
function tick({ top, timeline, panel }) {
  if (document.hidden || !store.execution) return;
  const live = store.execution.finishedAt === null || [...store.runs.values()].some((run) => LIVE.has(run.state));
  if (live) timeline.repaint();
  ticked += 1;
  if (ticked % (1000 / TICK)) return;
  top.tick();
  panel.tick();
  if (live) find("[data-hint]").textContent = hint(store);
}

function showModes(timeline) {
  for (const button of page.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === timeline.mode));
}

function control(view, timeline) {
  const acts = {
    "graph-in": () => view.zoom(1.25),
    "graph-out": () => view.zoom(0.8),
    "graph-fit": () => view.fit(),
    "time-in": () => timeline.zoom(1.5),
    "time-out": () => timeline.zoom(1 / 1.5),
    fit: () => timeline.setMode("fit"),
    follow: () => timeline.setMode(timeline.mode === "follow" ? "free" : "follow"),
  };
  page.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button) acts[button.dataset.act]();
    const filter = event.target.closest("[data-which]");
    if (filter) filterBy(timeline, filter.dataset.which);
    if (event.target.closest("[data-keys]")) help();
  });
  find("[data-rolled-back] input").addEventListener("change", (event) => {
    timeline.rolledBack = event.target.checked;
    timeline.update();
  });
  search(find("[data-search]"), view);
  showModes(timeline);
}

function filterBy(timeline, which) {
  timeline.which = which;
  timeline.scroller.scrollTop = 0;
  for (const button of page.querySelectorAll("[data-which]")) button.setAttribute("aria-pressed", String(button.dataset.which === which));
  timeline.update();
}

// Typing marks what is found; Enter goes from one to the next.
function search(input, view) {
  let found = [];
  let next = 0;
  const told = find("[data-found]");
  input.addEventListener("input", () => {
    found = view.search(input.value);
    next = 0;
    told.textContent = input.value.trim() ? `${found.length} found` : "";
    if (found.length) view.show(found[0]);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      input.dispatchEvent(new Event("input"));
      input.blur();
    }
    if (event.key !== "Enter" || !found.length) return;
    view.choose(found[next % found.length]);
    view.show(found[next % found.length]);
    next += 1;
  });
}

function keys(view, timeline, panel) {
  const wrong = (step) => () => {
    const found = store.wrong();
    if (!found.length) return announcer.say("Nothing failed.");
    const index = found.findIndex((run) => run.id === selection.run);
    const next = index < 0 ? (step > 0 ? 0 : found.length - 1) : (index + step + found.length) % found.length;
    selection.choose({ run: found[next].id });
  };
  const tab = (number) => () => panel.tabs.choose(panel.tabs.names[number]);
  return {
    n: wrong(1),
    p: wrong(-1),
    l: () => timeline.setMode(timeline.mode === "follow" ? "free" : "follow"),
    f: () => (view.fit(), timeline.setMode("fit")),
    "+": () => timeline.zoom(1.5),
    "-": () => timeline.zoom(1 / 1.5),
    "/": () => find("[data-search]").focus(),
    "?": help,
    Escape: () => (find("dialog").open ? find("dialog").close() : selection.choose()),
    ...Object.fromEntries([0, 1, 2, 3, 4, 5].map((number) => [String(number + 1), tab(number)])),
  };
}

function help() {
  const dialog = find("dialog");
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

try {
  start(await ask(dataset.graph));
} catch (error) {
  const text = error instanceof Refused ? error.message : `The monitor could not be started: ${error.message}`;
  page.replaceChildren(el("p", { class: "vm-error", role: "alert", text }), el("a", { class: "vk-link", href: location.href, text: "Try again" }));
  if (!(error instanceof Refused)) throw error;
}
