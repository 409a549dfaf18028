import { expect, test } from "vitest";
import { overview, tidied } from "../src/document/layout";
import { pathOf, taskAt } from "../src/document/paths";
import { type Box, reach, sizeOf } from "../src/document/sizes";
import type { Body, Definition, Edge, Task } from "../src/document/types";

const drawing = { types: new Map(), direction: "LR", folded: () => false } as const;
const task = (id: string): Task => ({ id, use: "flow.noop" });
const of = (tasks: Task[], edges: Edge[]): Definition => ({
  schema: "valkyr/1",
  name: "w",
  tasks,
  edges,
});
const numbered = (count: number): Task[] =>
  Array.from({ length: count }, (_, at) => task(`s${at}`));
const chain = (count: number): Definition =>
  of(
    numbered(count),
    numbered(count - 1).map(({ id }, at) => ({ from: id, to: `s${at + 1}` })),
  );

const boxesIn = (body: Body, at: readonly string[] = []): Box[] =>
  body.tasks.map((one) => ({
    x: one.ui?.x ?? Number.NaN,
    y: one.ui?.y ?? Number.NaN,
    ...sizeOf(one, pathOf(at, one.id), body, drawing),
  }));

function overlaps(boxes: readonly Box[]): number {
  let found = 0;
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1)) {
      const across = one.x < other.x + other.w && other.x < one.x + one.w;
      if (across && one.y < other.y + other.h && other.y < one.y + one.h) found += 1;
    }
  });
  return found;
}

interface Measured {
  name: string;
  tasks: { id: string; after: string[] }[];
}

const REAL = import.meta.glob<Measured>("../../../tests/support/dags/*.json", {
  eager: true,
  import: "default",
});

test.each(Object.values(REAL))(
  "no tasks of the measured graph $name overlap",
  ({ tasks }) => {
    const edges = tasks.flatMap(({ id, after }) => after.map((from) => ({ from, to: id })));
    const document = overview(
      of(
        tasks.map(({ id }) => task(id)),
        edges,
      ),
    );
    expect(overlaps(boxesIn(document))).toBe(0);
  },
  60_000,
);

test("a very long chain goes on below", () => {
  for (const count of [100, 2000]) {
    const boxes = boxesIn(overview(chain(count)));
    const { w, h } = reach(boxes);
    expect(w / h).toBeGreaterThan(0.5);
    expect(w / h).toBeLessThan(4);
    expect(Math.min(...boxes.map(({ x }) => x), ...boxes.map(({ y }) => y))).toBe(0);
    expect(overlaps(boxes)).toBe(0);
  }
});

test("a very wide fork fits a screen", () => {
  const edges = numbered(600).map(({ id }) => ({ from: "a", to: id }));
  const boxes = boxesIn(overview(of([task("a"), ...numbered(600)], edges)));
  const { w, h } = reach(boxes);
  expect(w / h).toBeGreaterThan(0.5);
  expect(w / h).toBeLessThan(4);
  expect(overlaps(boxes)).toBe(0);
});

test("a body stands within its container, whatever is beside it", () => {
  const inner: Task = {
    id: "items",
    use: "flow.map",
    body: { tasks: [task("pick"), task("pack")], edges: [{ from: "pick", to: "pack" }] },
  };
  const outer: Task = { id: "again", use: "flow.loop", body: { tasks: [inner], edges: [] } };
  const edges = [
    { from: "before", to: "again" },
    { from: "before", to: "refund", on: "error" },
  ];
  const document = overview(of([task("before"), outer, task("refund")], edges));
  expect(overlaps(boxesIn(document))).toBe(0);
  const again = taskAt(document, "again") as Task;
  const items = taskAt(document, "again.items") as Task;
  expect(overlaps(boxesIn(again.body as Body, ["again"]))).toBe(0);
  expect(overlaps(boxesIn(items.body as Body, ["again", "items"]))).toBe(0);
});

test("a task of a large body stands right of all before it, or below when that is wanted", () => {
  const document = chain(300);
  const [left, down] = [tidied(document, "LR"), tidied(document, "TB")];
  expect(taskAt(left, "s1")?.ui?.x).toBeGreaterThan((taskAt(left, "s0")?.ui?.x ?? 0) + 200);
  expect(taskAt(left, "s299")?.ui?.y).toBe(taskAt(left, "s0")?.ui?.y);
  expect(taskAt(down, "s1")?.ui?.y).toBeGreaterThan((taskAt(down, "s0")?.ui?.y ?? 0) + 50);
});

test("edges that close a cycle do not keep a large body from being laid out", () => {
  const document = chain(300);
  document.edges?.push({ from: "s299", to: "s0" });
  expect(overlaps(boxesIn(tidied(document, "LR")))).toBe(0);
});

test("on a narrow screen a short chain goes on below, too, and three tasks stay beside each other", () => {
  expect(reach(boxesIn(overview(chain(8)))).h).toBeLessThan(200);
  for (const count of [5, 8, 40]) {
    const boxes = boxesIn(overview(chain(count), new Map(), true));
    const { w, h } = reach(boxes);
    expect(w / h).toBeGreaterThan(0.3);
    expect(w / h).toBeLessThan(1.6);
    expect(overlaps(boxes)).toBe(0);
  }
  const few = chain(3);
  expect(overview(few, new Map(), true)).toEqual(overview(few));
});
