import { expect, test } from "vitest";
import { arranged, tidied } from "../src/document/layout";
import { taskAt } from "../src/document/paths";
import { HEAD, NODE_WIDTH, originOf, PAD, sizeOf } from "../src/document/sizes";
import type { Body, Definition, Task } from "../src/document/types";

const drawing = { types: new Map(), direction: "LR", folded: () => false } as const;
const task = (id: string, ui?: Task["ui"]): Task => ({ id, use: "data.set", with: {}, ui });
const of = (body: Body): Definition => ({ schema: "valkyr/1", name: "w", ...body });

test("tasks without places stand in the order of their edges", () => {
  const document = arranged(of({ tasks: [task("b"), task("a")], edges: [{ from: "a", to: "b" }] }));
  const [a, b] = [taskAt(document, "a")?.ui, taskAt(document, "b")?.ui];
  expect(b?.x).toBeGreaterThanOrEqual((a?.x ?? 0) + NODE_WIDTH);
  expect(b?.y).toBe(a?.y);
});

test("tasks with places keep them, and newcomers stand below", () => {
  const document = arranged(of({ tasks: [task("a", { x: 500, y: 300 }), task("b")] }));
  expect(taskAt(document, "a")?.ui).toEqual({ x: 500, y: 300 });
  expect(taskAt(document, "b")?.ui?.y).toBeGreaterThan(300 + HEAD);
});

test("tidying goes to the right or downwards and remembers which", () => {
  const document = of({ tasks: [task("a"), task("b")], edges: [{ from: "a", to: "b" }] });
  const down = tidied(document, "TB");
  expect(taskAt(down, "a")?.ui?.x).toBe(taskAt(down, "b")?.ui?.x);
  expect(taskAt(down, "b")?.ui?.y).toBeGreaterThan(taskAt(down, "a")?.ui?.y ?? 0);
  expect(down.ui?.direction).toBe("TB");
});

test("a container is as large as what is in it, and its neighbours make room", () => {
  const body = { tasks: [task("x"), task("y"), task("z")], edges: [{ from: "x", to: "y" }] };
  const loop: Task = { id: "loop", use: "flow.loop", body };
  const document = tidied(
    of({ tasks: [loop, task("after")], edges: [{ from: "loop", to: "after" }] }),
    "LR",
  );
  const placed = taskAt(document, "loop") as Task;
  const { w } = sizeOf(placed, "loop", document, drawing);
  expect(w).toBeGreaterThanOrEqual(2 * NODE_WIDTH + 2 * PAD);
  expect(taskAt(document, "after")?.ui?.x).toBeGreaterThanOrEqual((placed.ui?.x ?? 0) + w);
});

test("a container's plane begins left of and above what stands at negative places", () => {
  const body: Body = { tasks: [task("x", { x: -100, y: -10 }), task("y", { x: 50, y: 0 })] };
  expect(originOf(body)).toEqual({ x: PAD + 100, y: HEAD + PAD + 10 });
});

test("a chain and a gate make a card higher", () => {
  const plain = sizeOf(task("a"), "a", { tasks: [] }, drawing);
  const modules = [1, 2, 3].map((at) => ({ id: `m${at}`, use: "data.set" }));
  const chain = sizeOf({ id: "c", modules }, "c", { tasks: [] }, drawing);
  const asked = { tasks: [], edges: [{ from: "a", to: "b", on: "odd" }] };
  const gate = sizeOf(task("a"), "a", asked, drawing);
  expect(chain.h).toBeGreaterThan(plain.h);
  expect(gate.h).toBeGreaterThan(plain.h);
});
