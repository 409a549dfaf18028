import { expect, test } from "vitest";
import { type CanvasNode, linesOf, nodesOf, type Scene, STILL } from "../src/canvas/graph";
import { settled, underWay } from "../src/canvas/moving";
import { moveTasks } from "../src/document/edits";
import { taskAt } from "../src/document/paths";
import { HEAD, PAD } from "../src/document/sizes";
import type { Definition } from "../src/document/types";
import { NOTHING } from "../src/store/selection";

const inner = {
  tasks: [
    { id: "x", use: "data.set", ui: { x: 0, y: 0 } },
    { id: "y", use: "data.set", ui: { x: 300, y: 20 } },
  ],
  edges: [{ from: "x", to: "y" }],
  ui: { notes: [{ id: "n", x: 10, y: 120, w: 100, h: 60, text: "look" }] },
};
const document: Definition = {
  schema: "valkyr/1",
  name: "w",
  tasks: [
    { id: "a", use: "data.set", ui: { x: 5, y: 7 } },
    { id: "loop", use: "flow.loop", ui: { x: 400, y: 0 }, body: inner },
  ],
  edges: [
    { from: "a", to: "loop" },
    { from: "a", to: "loop" },
    { from: "a", to: "gone" },
  ],
};
const scene: Scene = {
  document,
  drawing: { types: new Map(), direction: "LR", folded: () => false },
  selection: NOTHING,
  problems: new Map(),
  live: new Map(),
  moving: STILL,
  canEdit: true,
};
const byId = (nodes: CanvasNode[]) => new Map(nodes.map((node) => [node.id, node]));

test("what stands in a container has places of its own, after the container's head", () => {
  const nodes = nodesOf(scene);
  expect(nodes.map((node) => node.id)).toEqual(["a", "loop", "note:loop:n", "loop.x", "loop.y"]);
  const found = byId(nodes);
  expect(found.get("loop.y")).toMatchObject({
    parentId: "loop",
    position: { x: PAD + 300, y: HEAD + PAD + 20 },
  });
  expect(found.get("loop")?.width).toBeGreaterThan(PAD + 300);
});

test("a folded container hides its body and is a card", () => {
  const nodes = nodesOf({ ...scene, drawing: { ...scene.drawing, folded: () => true } });
  expect(nodes.map((node) => [node.id, node.type])).toEqual([
    ["a", "task"],
    ["loop", "task"],
  ]);
});

test("nodes that did not change are the same objects", () => {
  const before = byId(nodesOf(scene));
  const moved = { ...scene, document: moveTasks(document, new Map([["a", { x: 9, y: 9 }]])) };
  const after = byId(nodesOf(moved, before));
  expect(after.get("loop.x")).toBe(before.get("loop.x"));
  expect(after.get("a")).not.toBe(before.get("a"));
});

test("a container grows while a task is dragged in it, and the place is kept on its plane", () => {
  const position = { x: PAD + 700, y: HEAD + PAD + 30 };
  const change = { type: "position", id: "loop.y", position, dragging: true } as const;
  const moving = underWay(STILL, [change]) ?? STILL;
  const nodes = nodesOf({ ...scene, moving });
  const width = byId(nodesOf(scene)).get("loop")?.width ?? 0;
  expect(byId(nodes).get("loop")?.width).toBe(width + 400);
  const kept = settled(document, moving, nodes);
  expect(taskAt(kept, "loop.y")?.ui).toEqual({ x: 700, y: 30 });
  expect(taskAt(kept, "a")).toBe(taskAt(document, "a"));
});

test("a note that is resized keeps its whole measures", () => {
  const dimensions = { width: 150.4, height: 90.6 };
  const change = { type: "dimensions", id: "note:loop:n", dimensions, resizing: false } as const;
  const moving = underWay(STILL, [change]) ?? STILL;
  const kept = settled(document, moving, nodesOf(scene));
  const [note] = taskAt(kept, "loop")?.body?.ui?.notes ?? [];
  expect(note).toMatchObject({ x: 10, y: 120, w: 150, h: 91 });
});

test("lines are drawn once, and only between nodes that there are", () => {
  const drawn = new Set(nodesOf(scene).map((node) => node.id));
  const lines = linesOf({ document, selection: NOTHING, drawn });
  expect(lines.map((line) => line.id)).toEqual(["a>loop:success", "loop.x>loop.y:success"]);
  const again = linesOf(
    { document, selection: NOTHING, drawn },
    new Map(lines.map((line) => [line.id, line])),
  );
  expect(again[0]).toBe(lines[0]);
});
