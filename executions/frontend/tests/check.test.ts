import { expect, test } from "vitest";
import type { ModuleType } from "../src/api/shapes";
import type { JsonObject, Task } from "../src/document/types";
import { check } from "../src/problems/check";
import { keyPath } from "../src/problems/found";
import { set, TYPES, workflow } from "./modules";

const said = (document: ReturnType<typeof workflow>): string[] =>
  check(document, TYPES).map(
    (one) => `${one.task ?? ""}:${keyPath(one.pointer)} ${one.code} ${one.message}`,
  );
const ofRequest = (config: JsonObject): string[] =>
  said(workflow([{ id: "get", use: "http.request", with: config }]));

test("a sound document has no problems", () => {
  const tasks = [set("a"), set("b", { of: "{{ tasks.a.output.x }}" })];
  expect(said(workflow(tasks, [{ from: "a", to: "b" }]))).toEqual([]);
});

test("a field that is missing, unknown or of another type is named", () => {
  expect(ofRequest({ uri: 1 })).toEqual([
    "get:with.url required a value is required",
    'get:with.uri unknown_key unknown key "uri"',
  ]);
  expect(ofRequest({ url: 12 })).toEqual(["get:with.url type expected a string, found 12"]);
});

test("bounds are told as people say them, of unions the branch that fits", () => {
  expect(ofRequest({ url: "u", maxBytes: 900 })).toEqual([
    "get:with.maxBytes value 900 is greater than 300",
  ]);
  expect(ofRequest({ url: "u", tries: 900 })).toEqual([
    "get:with.tries value 900 is greater than 300",
  ]);
  expect(ofRequest({ url: "u", seconds: 0 })).toEqual([
    "get:with.seconds value 0 is not greater than 0",
  ]);
  expect(ofRequest({ url: "u", seconds: 60 })).toEqual([
    "get:with.seconds value 60 is greater than or equal to 60",
  ]);
  expect(ofRequest({ url: "u", tries: true })).toEqual([
    "get:with.tries type expected a whole number or null, found true",
  ]);
  expect(ofRequest({ url: "u", method: "PUT" })).toEqual([
    'get:with.method value expected one of "GET", "POST", found "PUT"',
  ]);
});

test("a mistake within a list within a union is found where it is", () => {
  expect(ofRequest({ url: "u", parts: [{ name: "ok" }, { name: "x" }] })).toEqual([
    "get:with.parts[1].name value the string is too short (1 < 2)",
  ]);
});

test("a text with a template stands for any value", () => {
  const config = {
    url: `{{ input.url }}${"x".repeat(60)}`,
    maxBytes: "{{ input.n }}",
    tries: "{{ input.n }}",
    method: "{{ input.m }}",
    headers: { a: "{{ input.h }}" },
    parts: ["{{ input.part }}", { name: "{{ input.x }}" }],
  };
  expect(ofRequest(config)).toEqual([]);
});

test("an unknown module is said, its fields are not", () => {
  expect(said(workflow([{ id: "x", use: "no.such", with: { a: 1 } }]))).toEqual([
    'x:use unknown_module there is no module "no.such"',
  ]);
});

test("mistakes in a chain stand at their module", () => {
  const task: Task = {
    id: "c",
    modules: [
      { id: "one", use: "data.set", with: { values: {} } },
      { id: "two", use: "http.request", with: {} },
    ],
  };
  expect(said(workflow([task]))).toEqual(["c:modules[1].with.url required a value is required"]);
});

test("ids given twice and edges to nowhere are problems", () => {
  const document = workflow([set("a"), set("a")], [{ from: "a", to: "gone" }]);
  expect(said(document)).toEqual([
    'a:id duplicate_id a task with the ID "a" already exists; IDs must be unique',
    'a:to unknown_task there is no task "gone"',
  ]);
});

test("a gate's edge must name an outcome that it has", () => {
  const gate: Task = { id: "g", use: "flow.if", with: { condition: true } };
  const document = workflow(
    [gate, set("a")],
    [
      { from: "g", to: "a" },
      { from: "g", to: "a", on: "maybe" },
      { from: "g", to: "a", on: "true" },
      { from: "g", to: "a", on: "error" },
    ],
  );
  expect(check(document, TYPES).map((one) => one.code)).toEqual([
    "outcome_required",
    "unknown_outcome",
  ]);
});

test("a cycle is named in order, and what only it leads to is unreachable", () => {
  const document = workflow(
    [set("a"), set("b"), set("c"), set("d")],
    [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
      { from: "c", to: "a" },
      { from: "c", to: "d" },
    ],
  );
  expect(said(document)).toEqual([
    "a: cycle these tasks form a cycle: a → b → c → a; remove one of the edges",
    'd: unreachable "d" cannot be reached: every path to it contains a cycle',
  ]);
});

test("templates may read tasks that are done before, and no others", () => {
  const late = set("a", { of: "{{ tasks.b.output }} {{ tasks['none'].output }}" });
  const document = workflow([late, set("b")], [{ from: "a", to: "b" }]);
  expect(check(document, TYPES).map((one) => one.code)).toEqual([
    "task_not_before",
    "unknown_task",
  ]);
});

test("what stands in quotes or out of braces is no reference", () => {
  const text = "tasks.none.output {{ 'tasks.none.output' ~ input.tasks.none }}";
  expect(said(workflow([set("a", { text })]))).toEqual([]);
});

test("a brace that is not closed and a variable that nobody declared are problems", () => {
  const document = workflow([set("a", { one: "{{ input.x", two: "{{ vars.y }}" })]);
  expect(check(document, TYPES).map((one) => `${keyPath(one.pointer)} ${one.code}`)).toEqual([
    "with.values.one template_syntax",
    "with.values.two unknown_variable",
  ]);
});

test("a body's tasks see the tasks before their container", () => {
  const inner = set("in", { of: "{{ tasks.first.output }} {{ tasks.after.output }}" });
  const loop: Task = {
    id: "loop",
    use: "flow.loop",
    with: { until: "{{ tasks.in.outcome }}" },
    body: { tasks: [inner], edges: [] },
  };
  const document = workflow(
    [set("first"), loop, set("after")],
    [
      { from: "first", to: "loop" },
      { from: "loop", to: "after" },
    ],
  );
  expect(said(document)).toEqual([
    'loop.in:with.values.of task_not_before "after" may not have finished when "loop" starts: no path leads from "after" to "loop"',
  ]);
});

/** Counts how often a type is looked up. */
class Asked extends Map<string, ModuleType> {
  times = 0;
  override get(type: string): ModuleType | undefined {
    this.times += 1;
    return super.get(type);
  }
}

test("of a thousand tasks only the one that changed is checked again", () => {
  const types = new Asked(TYPES);
  const document = workflow(Array.from({ length: 1000 }, (_, at) => set(`t${at}`, { at })));
  check(document, types);
  const before = types.times;
  check({ ...document, tasks: [set("t0", { x: 1 }), ...document.tasks.slice(1)] }, types);
  expect(before).toBeGreaterThanOrEqual(1000);
  expect(types.times - before).toBe(1);
});
