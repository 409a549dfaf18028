import { expect, test } from "vitest";
import { clipText, copied, freeShift, outermost, pasted, readClip } from "../src/document/copying";
import { taskAt } from "../src/document/paths";
import type { Definition } from "../src/document/types";

const document: Definition = {
  schema: "valkyr/1",
  name: "order",
  tasks: [
    { id: "fetch", use: "http.request", with: { url: "x" }, ui: { x: 0, y: 0 } },
    {
      id: "build",
      use: "data.set",
      with: { values: { a: "{{ tasks.fetch.output.body }}", b: "{{ tasks.other.output }}" } },
      ui: { x: 300, y: 0 },
    },
    { id: "other", use: "data.set", with: {}, ui: { x: 600, y: 0 } },
    {
      id: "loop",
      use: "flow.loop",
      with: { count: 2 },
      body: { tasks: [{ id: "fetch", use: "data.set" }], edges: [] },
    },
  ],
  edges: [
    { from: "fetch", to: "build" },
    { from: "build", to: "other", on: "error" },
  ],
  ui: { notes: [{ id: "note", x: 0, y: 90, w: 100, h: 60, text: "look" }] },
};

test("a clip holds the chosen tasks, the edges among them and the notes", () => {
  const clip = copied(document, ["fetch", "build"], [{ body: [], id: "note" }]);
  expect(clip.tasks.map((task) => task.id)).toEqual(["fetch", "build"]);
  expect(clip.edges).toEqual([{ from: "fetch", to: "build" }]);
  expect(clip.notes).toHaveLength(1);
});

test("what stands in a chosen container comes with it, once", () => {
  expect(outermost(["loop", "loop.fetch", "fetch"])).toEqual(["loop", "fetch"]);
});

test("ids are made free, and edges and templates of the clip follow them alone", () => {
  const clip = copied(document, ["fetch", "build"]);
  const { document: changed, tasks } = pasted(document, [], clip, { x: 40, y: 40 });
  expect(tasks).toEqual(["fetch_2", "build_2"]);
  expect(changed.edges).toContainEqual({ from: "fetch_2", to: "build_2" });
  const values = taskAt(changed, "build_2")?.with?.values;
  expect(values).toEqual({
    a: "{{ tasks.fetch_2.output.body }}",
    b: "{{ tasks.other.output }}",
  });
  expect(taskAt(changed, "build_2")?.ui).toEqual({ x: 340, y: 40 });
  expect(taskAt(changed, "build")?.with).toBe(taskAt(document, "build")?.with);
});

test("a text goes round through the clipboard into the body of a container", () => {
  const clip = readClip(clipText(copied(document, ["fetch"])));
  const { document: changed, tasks } = pasted(document, ["loop"], clip ?? none, { x: 0, y: 0 });
  expect(tasks).toEqual(["loop.fetch_2"]);
  expect(taskAt(changed, "loop.fetch_2")?.use).toBe("http.request");
});

test("a task is pasted twice with a new id each time", () => {
  const clip = copied(document, ["fetch"]);
  const once = pasted(document, [], clip, { x: 0, y: 0 }).document;
  expect(pasted(once, [], clip, { x: 0, y: 0 }).tasks).toEqual(["fetch_3"]);
});

test("other texts are no clip", () => {
  for (const text of ["hello", "{}", "[1]", '{"schema": "valkyr/1"}', '{"tasks": [', "null"]) {
    expect(readClip(text)).toBeNull();
  }
});

test("copies are shifted until none lies on another", () => {
  const clip = copied(document, ["fetch"]);
  expect(freeShift(clip, document)).toEqual({ x: 40, y: 40 });
});

const none = { tasks: [], edges: [], notes: [] };
