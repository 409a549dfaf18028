import { ReactFlowProvider } from "@xyflow/react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { CanvasNode } from "../canvas/graph";
import { nameOf } from "../canvas/names";
import { Plane } from "../canvas/Plane";
import { useGraph } from "../canvas/useGraph";
import { openAround } from "../canvas/useRevealing";
import { fitWithin, pan, reveal, zoomIn, zoomOut } from "../canvas/viewport";
import { modulesOf } from "../document/modules";
import { everyTask } from "../document/paths";
import { reach, type Size } from "../document/sizes";
import type { Definition, TaskPath } from "../document/types";
import { taskOf } from "../live/frames";
import { NOTHING } from "../store/selection";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";
import { isNarrow } from "./narrow";
import { IconButton } from "./pieces";
import { chooseTask } from "./selecting";
import { useMonitor, usePages, useRun } from "./store";

const FIRST_VIEW = { padding: 0.06, maxZoom: 1 };
/** Limits of the graph's height, in pixels; users can resize it. */
const HEIGHT = { least: 180, most: 380, mostNarrow: 480, air: 56 };
const STEP = 60;

/** Use the first view's padding, so that later views look the same. */
const fitGraph = (): void => fitWithin(FIRST_VIEW.padding);

/** The graph of the execution's version, coloured by state. */
export function Graph() {
  return (
    <section className="vk-panel" aria-label={t("monitor.graph")}>
      <div className="vm-bar">
        <h2>{t("monitor.graph")}</h2>
        <Search />
        <span className="vm-space" />
        <IconButton icon="remove" label={t("monitor.zoomOut")} onClick={reduce} />
        <IconButton icon="add" label={t("monitor.zoomIn")} onClick={enlarge} />
        <IconButton
          icon="fit_screen"
          label={t("monitor.fitTheGraph")}
          title={t("monitor.fitF")}
          onClick={showAll}
        />
        <IconButton
          icon="keyboard"
          label={t("monitor.keys")}
          title={t("monitor.keysByKey")}
          onClick={() => useMonitor.setState({ help: true })}
        />
      </div>
      <ReactFlowProvider>
        <Shown />
      </ReactFlowProvider>
    </section>
  );
}

function Shown() {
  const { workflow } = usePages();
  const { nodes, lines } = useGraph();
  const box = useRef<HTMLDivElement>(null);
  useChosenTask();
  const sized = useSize(box, nodes);
  const marked = useMarked(nodes);
  const label = t("monitor.theGraphOfColouredBy", { workflow });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of drawn things is no fieldset
    <div
      ref={box}
      className="vm-graph canvas"
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys move what is seen of it
      tabIndex={0}
      onKeyDown={pressed}
    >
      {sized && (
        <Plane
          nodes={marked}
          edges={lines}
          onPick={chooseTask}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          // The wheel scrolls the page, as elsewhere; with Ctrl, or by pinching, it zooms the
          // graph.
          zoomOnScroll={false}
          preventScrolling={false}
          zoomOnDoubleClick={false}
          fitViewOptions={FIRST_VIEW}
          minZoom={0.02}
          maxZoom={2.5}
          // The event is null if a script moved the graph.
          onMoveStart={(event) => {
            seen.moved ||= event !== null;
          }}
        />
      )}
    </div>
  );
}

/**
 * Select the task of the selected run, or the selected task, in the graph; bring it into view,
 * unless it was selected in the graph.
 */
function useChosenTask(): void {
  const run = useRun();
  const task = useMonitor((state) => state.task);
  const path = run ? taskOf(run.stepPath) : task;
  useEffect(() => {
    useStudio.setState({ selection: path === null ? NOTHING : { ...NOTHING, tasks: [path] } });
    if (path === null || useMonitor.getState().from === "graph") return;
    return show(path);
  }, [path]);
}

/** Bring a task into view; return a function that cancels this. */
function show(path: TaskPath): () => void {
  openAround(path);
  // Two frames later, when the graph is drawn and the containers around the task are expanded.
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(() => {
      seen.moved = true;
      reveal(path, true);
    });
  });
  return () => cancelAnimationFrame(frame);
}

/**
 * Set the height that the graph needs at its width; return true when it is set. The whole graph
 * stays visible until the user moves it.
 */
function useSize(box: { current: HTMLDivElement | null }, nodes: readonly CanvasNode[]): boolean {
  const [sized, setSized] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: later sizes are people's own
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const roots = nodes.filter((node) => node.parentId === undefined);
    const boxes = roots.map(({ position, width = 0, height = 0 }) => ({
      ...position,
      w: width,
      h: height,
    }));
    element.style.height = `${heightOf(reach(boxes), element.clientWidth)}px`;
    setSized(true);
    const observer = new ResizeObserver(() => {
      if (!seen.moved) fitGraph();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return sized;
}

function heightOf({ w, h }: Size, width: number): number {
  const scale = Math.min(1, width / (w + 48));
  const most = isNarrow() ? HEIGHT.mostNarrow : HEIGHT.most;
  return Math.round(Math.min(most, Math.max(HEIGHT.least, h * scale + HEIGHT.air)));
}

/** Whether the user moved or zoomed the graph. */
const seen = { moved: false };

/** Show the whole graph, also after its box changes size. */
export function showAll(): void {
  seen.moved = false;
  fitGraph();
}

/** Wrap a function that moves the graph, so that later resizes keep the view. */
const moving =
  (move: () => void): (() => void) =>
  () => {
    seen.moved = true;
    move();
  };
const [enlarge, reduce] = [moving(zoomIn), moving(zoomOut)];

/** Return the nodes, with a class on those that the search found. */
function useMarked(nodes: CanvasNode[]): CanvasNode[] {
  const marked = useMonitor((state) => state.marked);
  return useMemo(() => {
    if (marked.size === 0) return nodes;
    return nodes.map((node) => (marked.has(node.id) ? { ...node, className: "marked" } : node));
  }, [nodes, marked]);
}

function pressed(event: KeyboardEvent): void {
  const by: Readonly<Record<string, readonly [number, number]>> = {
    ArrowLeft: [STEP, 0],
    ArrowRight: [-STEP, 0],
    ArrowUp: [0, STEP],
    ArrowDown: [0, -STEP],
  };
  const way = by[event.key];
  if (way) moving(() => pan(...way))();
  else if (event.key === "+" || event.key === "=") enlarge();
  else if (event.key === "-") reduce();
  else if (event.key === "0") showAll();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The search field: typing marks the matching tasks, and Enter moves from one to the next. */
function Search() {
  const document = useDocument();
  const [text, setText] = useState("");
  const [next, setNext] = useState(0);
  const found = useMemo(() => matching(document, text), [document, text]);
  const write = (value: string): void => {
    setText(value);
    setNext(0);
    const paths = matching(document, value);
    useMonitor.setState({ marked: new Set(paths) });
    if (paths[0] !== undefined) show(paths[0]);
  };
  const pressed = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === "Escape") {
      write("");
      event.currentTarget.blur();
    }
    const path = found[next % found.length];
    if (event.key !== "Enter" || path === undefined) return;
    chooseTask(path, null);
    show(path);
    setNext(next + 1);
  };
  return (
    <>
      <input
        type="search"
        className="vm-search"
        id="vm-search"
        placeholder={t("monitor.findATask")}
        aria-label={t("monitor.findATask")}
        autoComplete="off"
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={pressed}
      />
      <span className="vm-found" role="status">
        {text.trim() ? t("monitor.found", { count: found.length }) : ""}
      </span>
    </>
  );
}

/** Return the tasks whose name, path or modules contain a text. */
function matching(document: Definition, text: string): TaskPath[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  return everyTask(document)
    .filter(({ path, task }) => {
      const modules = modulesOf(task).map(({ use }) => use);
      return [nameOf(task), path, ...modules].join("\n").toLowerCase().includes(wanted);
    })
    .map(({ path }) => path);
}
