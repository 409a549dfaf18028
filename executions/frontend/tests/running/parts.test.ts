import { describe, expect, test } from "vitest";
import { read } from "../../src/document/reading";
import type { JsonObject } from "../../src/document/types";
import { isWhole, pinOf, pinsOf, testRunOf, upstreamOf } from "../../src/running/parts";
import type { LastResults, TaskResult } from "../../src/running/results";

const task = (id: string): JsonObject => ({ id, use: "data.set", with: { values: {} } });
const document = read(
  {
    tasks: ["a", "b", "c", "d"].map(task),
    edges: [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
      { from: "d", to: "c" },
    ],
  },
  "order",
);

const result = (state: string, more: Partial<TaskResult> = {}): TaskResult => ({
  state,
  outcome: "",
  inputs: {},
  outputs: { n: 1 },
  error: "",
  startedAt: null,
  endedAt: null,
  attempts: 1,
  runId: "r",
  ...more,
});

const results = (state: string, tasks: LastResults["tasks"]): LastResults => ({
  executionId: "e",
  state,
  version: 1,
  test: false,
  createdAt: "2026-01-01T00:00:00Z",
  payload: {},
  variables: {},
  tasks,
});

describe("what comes before a task", () => {
  test("is all that leads to it, in the document's order", () => {
    expect(upstreamOf(document, "c")).toEqual(["a", "b", "d"]);
    expect(upstreamOf(document, "a")).toEqual([]);
  });

  test("is found in a cycle as well, without the task itself", () => {
    const edges = [...(document.edges ?? []), { from: "c", to: "a" }];
    expect(upstreamOf({ ...document, edges }, "c")).toEqual(["a", "b", "d"]);
  });
});

describe("a result as a pin", () => {
  test("keeps the outcome that led on", () => {
    const branched = result("SUCCESS", { outcome: "true" });
    expect(pinOf(branched)).toEqual({ output: { n: 1 }, outcome: "true" });
    expect(pinOf(result("SUCCESS"))).toEqual({ output: { n: 1 } });
  });

  test("is none of what failed, runs, was hidden, or was cut", () => {
    expect(pinOf(result("DLQ"))).toBeNull();
    expect(pinOf(result("RUNNING"))).toBeNull();
    expect(pinOf(result("SUCCESS", { outputs: { $hidden: "no" } }))).toBeNull();
    expect(pinOf(result("SUCCESS", { outputs: { rows: [{ $truncated: 1 }] } }))).toBeNull();
  });

  test("says of a task that an ended execution did not reach that it was skipped", () => {
    const found = pinsOf(results("SUCCESS", { a: result("SUCCESS") }), ["a", "b"]);
    expect(found.get("b")).toEqual({ output: null, outcome: "skipped" });
    expect(pinsOf(results("RUNNING", {}), ["b"]).size).toBe(0);
  });
});

test("a value is whole when nothing in it was hidden", () => {
  expect(isWhole({ a: [1, null, "x"] })).toBe(true);
  expect(isWhole([{ deep: { $hidden: "…" } }])).toBe(false);
});

describe("a test run", () => {
  const pins = new Map([
    ["a", { output: 1 }],
    ["gone", { output: 2 }],
  ]);

  test("of everything names no task", () => {
    const run = testRunOf(document, { kind: "everything", task: "" }, {}, new Map());
    expect(Object.keys(run)).toEqual(["definition", "params"]);
  });

  test("up to a task takes pins of tasks that there still are", () => {
    const run = testRunOf(document, { kind: "upTo", task: "b" }, { x: 1 }, pins);
    expect(run).toMatchObject({ upTo: "b", params: { x: 1 }, pinned: { a: { output: 1 } } });
    expect(run.pinned).not.toHaveProperty("gone");
    expect(run.from).toBeUndefined();
  });

  test("from a task runs that task, even when it is pinned", () => {
    const run = testRunOf(document, { kind: "from", task: "a" }, {}, pins);
    expect(run.from).toBe("a");
    expect(run.pinned).toBeUndefined();
  });

  test("of one task begins and ends there", () => {
    const run = testRunOf(document, { kind: "only", task: "b" }, {}, pins);
    expect(run).toMatchObject({ upTo: "b", from: "b" });
  });
});
