import { describe, expect, test } from "vitest";
import { read } from "../../src/document/reading";
import type { JsonObject } from "../../src/document/types";
import { tasksOf } from "../../src/live/aggregate";
import type { RunRow } from "../../src/live/frames";
import { wasTaken } from "../../src/live/live";

const document = read(
  {
    tasks: [
      { id: "fetch", use: "data.set" },
      {
        id: "pay",
        modules: [
          { id: "build", use: "data.set" },
          { id: "send", use: "data.set" },
        ],
      },
      { id: "each", use: "flow.map", body: { tasks: [{ id: "pack", use: "data.set" }] } },
    ],
    edges: [
      { from: "fetch", to: "pay", on: "error" },
      { from: "fetch", to: "each" },
    ],
  } as JsonObject,
  "order",
);

let ids = 0;
const run = (stepPath: string, state: string, more: Partial<RunRow> = {}): RunRow => ({
  id: String(++ids),
  stepPath,
  state,
  module: "data.set",
  worker: "",
  queue: "default",
  retryAfter: null,
  durationMs: null,
  errorType: "",
  recoveries: 0,
  cachedFrom: null,
  childId: null,
  attempt: 1,
  epoch: 0,
  superseded: false,
  waitsFor: null,
  queuedAt: `2026-01-01T00:00:${String(ids % 60).padStart(2, "0")}Z`,
  startedAt: null,
  finishedAt: null,
  outcome: null,
  error: null,
  ...more,
});

describe("the state of a task", () => {
  test("is that of its only step", () => {
    const tasks = tasksOf([run("fetch.main", "RUNNING")], document);
    expect(tasks.get("fetch")).toMatchObject({ word: "running", icon: "clock_loader_40" });
    expect(tasks.has("pay")).toBe(false);
  });

  test("is that of the newest attempt, and a retry says which it is", () => {
    const runs = [
      run("fetch.main", "PENDING", { attempt: 2 }),
      run("fetch.main", "FAILED", { error: "refused" }),
    ];
    expect(tasksOf(runs, document).get("fetch")).toMatchObject({
      word: "retry 1",
      state: "PENDING",
    });
  });

  test("leaves out what was rolled back", () => {
    const runs = [run("fetch.main", "DLQ", { superseded: true })];
    expect(tasksOf(runs, document).size).toBe(0);
  });

  test("of a chain is running until its last step has succeeded", () => {
    const first = run("pay.build", "SUCCESS");
    expect(tasksOf([first], document).get("pay")).toMatchObject({ state: "RUNNING", outcomes: [] });
    const both = tasksOf([first, run("pay.send", "SUCCESS")], document);
    expect(both.get("pay")).toMatchObject({ state: "SUCCESS", outcomes: ["success"] });
  });

  test("of a chain whose output was pinned is that of the step in its place", () => {
    expect(tasksOf([run("pay.main", "SUCCESS")], document).get("pay")?.state).toBe("SUCCESS");
  });

  test("of a container counts its turns by the worst step of each", () => {
    const runs = [
      run("each.main", "WAITING", { waitsFor: "body" }),
      run("each[0].pack.main", "SUCCESS"),
      run("each[1].pack.main", "RUNNING"),
      run("each[2].pack.main", "DLQ", { error: "gone" }),
    ];
    const tasks = tasksOf(runs, document);
    expect(tasks.get("each")).toMatchObject({
      word: "running its body",
      count: "3: 1 ok, 1 running, 1 dead",
    });
    expect(tasks.get("each.pack")).toMatchObject({ state: "DLQ", error: "gone" });
  });

  test("stays the same object as long as nothing of it changed", () => {
    const fetch = run("fetch.main", "SUCCESS");
    const before = tasksOf([fetch, run("pay.build", "RUNNING")], document);
    const after = tasksOf([fetch, run("pay.build", "DLQ")], document, before);
    expect(after.get("fetch")).toBe(before.get("fetch"));
    expect(after.get("pay")).not.toBe(before.get("pay"));
  });
});

test("an edge was taken when its source had its outcome", () => {
  const failed = run("fetch.main", "FAILED", { outcome: "error" });
  const tasks = tasksOf([failed], document);
  expect(wasTaken(tasks, [], { from: "fetch", to: "pay", on: "error" })).toBe(true);
  expect(wasTaken(tasks, [], { from: "fetch", to: "each" })).toBe(false);
});
