// The graph: a canvas that is painted once a frame, and only when something changed.
import { Camera } from "./camera.js";
import { statesOf } from "./graph_states.js";
import { colours, paint } from "./paint.js";

const STEP = 60;

export class GraphView {
  camera = new Camera();
  states = new Map();
  marked = new Set();
  #wanted = false;
  #moved = false;
  #pointers = new Map();

  constructor(box, graph, { selection, store, choose }) {
    Object.assign(this, { box, graph, selection, store, choose });
    this.canvas = box.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.colour = colours(box);
    new ResizeObserver(() => this.#resize()).observe(box);
    new MutationObserver(() => this.#recolour()).observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
    // Icons are painted from the font, which may come after the first frame.
    document.fonts.load('18px "Material Symbols Outlined"').then(() => this.repaint());
    document.fonts.load("600 13px Inter").then(() => this.repaint());
    this.#listen();
    this.#size();
    this.#resize();
  }

  // As high as the graph needs at this width, within bounds; people may pull it larger.
  #size() {
    const { width, height } = this.graph.size;
    const scale = Math.min(1, this.box.clientWidth / (width + 48));
    this.box.style.height = `${Math.round(Math.min(360, Math.max(180, height * scale + 56)))}px`;
  }

  /** The runs changed. */
  update() {
    this.states = statesOf(this.graph, this.store.runs.values());
    this.repaint();
  }

  /** Something is to be seen that was not. */
  repaint() {
    if (this.#wanted) return;
    this.#wanted = true;
    requestAnimationFrame(() => {
      this.#wanted = false;
      paint(this.canvas, this.context, { ...this, chosen: this.chosen() });
    });
  }

  /** The task that is selected, by itself or by one of its runs. */
  chosen() {
    const run = this.store.runs.get(this.selection.run);
    return run ? this.graph.ofStep.get(run.plain) : this.selection.task;
  }

  /** Bring the selected task into sight. */
  show(path = this.chosen()) {
    const node = this.graph.byPath.get(path);
    if (node) this.camera.show(node);
    this.repaint();
  }

  fit() {
    this.#moved = false;
    this.camera.fit({ w: this.graph.size.width || 1, h: this.graph.size.height || 1 });
    this.repaint();
  }

  zoom(factor, x, y) {
    this.#moved = true;
    this.camera.zoom(factor, x, y);
    this.repaint();
  }

  pan(x, y) {
    this.#moved = true;
    this.camera.pan(x, y);
    this.repaint();
  }

  /** Mark the tasks whose title, path or module has a text; their paths. */
  search(text) {
    const wanted = text.trim().toLowerCase();
    const has = (node) => `${node.title}\n${node.path}\n${node.module}`.toLowerCase().includes(wanted);
    const found = wanted ? this.graph.nodes.filter(has).map((node) => node.path) : [];
    this.marked = new Set(found);
    this.repaint();
    return found;
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.box;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    Object.assign(this.camera, { width, height });
    if (this.#moved) this.repaint();
    else this.fit();
  }

  #recolour() {
    this.colour = colours(this.box);
    this.repaint();
  }

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#drag(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.#release(event));
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  // As everywhere on the page, the wheel scrolls it unless Ctrl is held; pinching comes as that.
  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  }

  #press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, far: 0 });
  }

  #drag(event) {
    const from = this.#pointers.get(event.pointerId);
    if (!from) return this.#hover(event);
    const [x, y] = [event.offsetX - from.x, event.offsetY - from.y];
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    const before = other && Math.hypot(from.x - other.x, from.y - other.y);
    Object.assign(from, { x: event.offsetX, y: event.offsetY, far: from.far + Math.abs(x) + Math.abs(y) });
    if (other) this.zoom(Math.hypot(from.x - other.x, from.y - other.y) / Math.max(1, before), other.x, other.y);
    else if (from.far > 3) this.pan(x, y);
  }

  #release(event) {
    const from = this.#pointers.get(event.pointerId);
    this.#pointers.delete(event.pointerId);
    if (event.type === "pointerup" && from && from.far <= 3) this.choose(this.#at(event)?.path ?? null);
  }

  #hover(event) {
    this.canvas.classList.toggle("vm-over", this.#at(event) !== undefined);
  }

  // What stands inside comes after what is around it, so the last is the innermost.
  #at(event) {
    const [x, y] = this.camera.point(event.offsetX, event.offsetY);
    return this.graph.nodes.findLast((node) => x >= node.x && y >= node.y && x <= node.x + node.w && y <= node.y + node.h);
  }

  #key(event) {
    const by = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key];
    if (by) this.pan(...by);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
