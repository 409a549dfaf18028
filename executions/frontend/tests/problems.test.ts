import { expect, test } from "vitest";
import { found } from "../src/problems/found";
import { grouped } from "../src/problems/grouping";
import { counted, merged } from "../src/problems/merge";
import { keysOf, located, placeOf } from "../src/problems/places";
import { set, workflow } from "./modules";

const NESTED = workflow(
  [
    set("first"),
    { id: "loop", use: "flow.loop", with: {}, body: { tasks: [set("in")], edges: [] } },
  ],
  [{ from: "first", to: "loop", on: "error" }],
);

test("a server's path is read back into keys", () => {
  expect(keysOf('tasks[3].with.headers["a b"][0].content-type')).toEqual([
    "tasks",
    3,
    "with",
    "headers",
    "a b",
    0,
    "content-type",
  ]);
  expect(keysOf("")).toEqual([]);
});

test("paths lead to tasks, tasks of bodies, edges and the workflow", () => {
  expect(placeOf("tasks[0].with.url", NESTED)).toEqual({ task: "first", pointer: ["with", "url"] });
  expect(placeOf("tasks[1].body.tasks[0].id", NESTED)).toEqual({
    task: "loop.in",
    pointer: ["id"],
  });
  expect(placeOf("tasks[1].body.tasks", NESTED)).toEqual({
    task: "loop",
    pointer: ["body", "tasks"],
  });
  expect(placeOf("edges[0].on", NESTED)).toEqual({
    task: "first",
    pointer: ["on"],
    edge: { body: [], edge: NESTED.edges?.[0] },
  });
  expect(placeOf("triggers[0].schedule", NESTED)).toEqual({
    task: null,
    pointer: ["triggers", 0, "schedule"],
  });
});

const mine = found("first", ["with", "values"], "type", "expected an object, found 1");
const theirs = located(
  [
    { path: "tasks[0].with.values", code: "type", message: "another wording" },
    { path: "tasks[0].with.x", code: "value", message: "only the server knows" },
  ],
  "error",
  NESTED,
);

test("of the same document the server is right, in the browser's words where both say it", () => {
  const all = merged(NESTED, [mine], { document: NESTED, problems: theirs });
  expect(all.map((one) => one.message)).toEqual([
    "expected an object, found 1",
    "only the server knows",
  ]);
});

test("what the server said of an older document stands until it is mended here", () => {
  const now = { ...NESTED, tasks: [set("first", { x: 1 }), ...NESTED.tasks.slice(1)] };
  const all = merged(now, [], { document: NESTED, problems: theirs });
  expect(all.map((one) => one.code)).toEqual(["value"]);
  const gone = { ...NESTED, tasks: NESTED.tasks.slice(1) };
  expect(merged(gone, [], { document: NESTED, problems: theirs })).toEqual([]);
});

test("counts are told in words", () => {
  const warning = { ...mine, code: "other", level: "warning" as const };
  expect(counted([])).toBe("No problems");
  expect(counted([mine])).toBe("1 problem");
  expect(counted([mine, mine, warning])).toBe("2 problems, 1 warning");
});

test("the list has the workflow first and each task once, errors before warnings", () => {
  const warning = { ...mine, level: "warning" as const };
  const groups = grouped([warning, mine, found(null, ["output"], "value", "bad")], NESTED);
  expect(groups.map((one) => one.title)).toEqual(["Workflow", "first"]);
  expect(groups[1]?.problems.map((one) => one.level)).toEqual(["error", "warning"]);
});
