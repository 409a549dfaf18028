import { expect, test } from "vitest";
import type { CanvasNode } from "../../src/canvas/graph";
import { boxesOf, nodeAt } from "../../src/canvas/Overview";

const node = (id: string, x: number, y: number, w: number, parentId?: string): CanvasNode =>
  ({ id, position: { x, y }, width: w, height: 50, parentId }) as CanvasNode;
const NODES = [
  node("a", 0, 0, 100),
  node("loop", 200, 0, 300),
  node("loop.x", 20, 10, 100, "loop"),
];

test("what stands in a container has its place on the plane", () => {
  expect(boxesOf(NODES).get("loop.x")).toEqual({ x: 220, y: 10, w: 100, h: 50 });
});

test("a click finds the innermost node, or none", () => {
  expect(nodeAt(NODES, { x: 250, y: 20 })).toBe("loop.x");
  expect(nodeAt(NODES, { x: 450, y: 20 })).toBe("loop");
  expect(nodeAt(NODES, { x: 150, y: 20 })).toBe(null);
});
