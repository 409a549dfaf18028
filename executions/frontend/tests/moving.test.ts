import { expect, test } from "vitest";
import { rehomed } from "../src/document/moving";
import { bodyAt, taskAt } from "../src/document/paths";
import type { Definition } from "../src/document/types";

const task = (id: string, x: number, y: number, more = {}) => ({
  id,
  use: "flow.noop",
  ui: { x, y },
  ...more,
});

const document: Definition = {
  schema: "valkyr/1",
  name: "w",
  tasks: [
    task("a", 0, 0),
    task("b", 300, 0, { with: { value: "{{ tasks.c.output }}" } }),
    task("c", 300, 100),
    task("loop", 700, 0, {
      use: "flow.loop",
      body: { tasks: [task("b", 0, 0), task("in", 20, 40)], edges: [{ from: "b", to: "in" }] },
    }),
  ],
  edges: [
    { from: "a", to: "b" },
    { from: "b", to: "loop" },
    { from: "c", to: "b" },
  ],
};

test("a task goes into a container under a free id, and its connections go", () => {
  const { document: made, paths, cut } = rehomed(document, ["b"], ["loop"], { x: 60, y: 80 });
  expect(paths).toEqual(["loop.b_2"]);
  expect(cut).toBe(3);
  expect(made.edges).toEqual([]);
  expect(taskAt(made, "loop.b_2")?.ui).toEqual({ x: 60, y: 80 });
  expect(taskAt(made, "b")).toBeUndefined();
});

test("several tasks keep their distances, the edges among them and their templates", () => {
  const { document: made, paths, cut } = rehomed(document, ["c", "b"], ["loop"], { x: 50, y: -60 });
  expect(paths.map((path) => taskAt(made, path)?.ui)).toEqual([
    { x: 50, y: 0 },
    { x: 50, y: 100 },
  ]);
  expect(bodyAt(made, ["loop"])?.edges).toEqual([
    { from: "b", to: "in" },
    { from: "c", to: "b_2" },
  ]);
  expect(taskAt(made, "loop.b_2")?.with).toEqual({ value: "{{ tasks.c.output }}" });
  expect(cut).toBe(2);
});

test("a task comes out of a container to a place of the workflow", () => {
  const { document: made, paths, cut } = rehomed(document, ["loop.in"], [], { x: -40, y: 300.4 });
  expect(paths).toEqual(["in"]);
  expect(taskAt(made, "in")?.ui).toEqual({ x: -40, y: 300 });
  expect(bodyAt(made, ["loop"])?.edges).toEqual([]);
  expect(cut).toBe(1);
});
