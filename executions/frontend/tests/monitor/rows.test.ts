import { expect, test } from "vitest";
import { type Filter, type Listing, rowsOf } from "../../src/monitor/rows";
import type { Run } from "../../src/monitor/runs";
import { run, T0 } from "./made";

const listed = (runs: Run[], which: Filter = "all", more: Partial<Listing> = {}): string[] =>
  rowsOf(runs, which, { now: T0 + 100_000, ...more }).map(
    ({ run: { stepPath, attempt }, depth }) => `${" ".repeat(depth)}${stepPath}#${attempt}`,
  );

test("attempts stand under their step, steps in the order in which they began", () => {
  const again = run("a.main", { queuedAt: 9, attempt: 2 });
  const runs = [run("b.main", { queuedAt: 2 }), again, run("a.main", { queuedAt: 1 })];
  expect(listed(runs)).toEqual(["a.main#1", "a.main#2", "b.main#1"]);
});

test("turns stand under their container, in the order of their numbers", () => {
  const runs = [
    run("after.main", { queuedAt: 60 }),
    run("map.main", { queuedAt: 1, waitsFor: "body" }),
    run("map[10].pick.main", { queuedAt: 2 }),
    run("map[2].loop.main", { queuedAt: 3 }),
    run("map[2].loop[0].x.main", { queuedAt: 4 }),
  ];
  expect(listed(runs)).toEqual([
    "map.main#1",
    " map[2].loop.main#1",
    "  map[2].loop[0].x.main#1",
    " map[10].pick.main#1",
    "after.main#1",
  ]);
});

test("a folded container hides what is in it and tells how much", () => {
  const inside = [1, 2].map((at) => run(`map[${at}].pick.main`, { queuedAt: at }));
  const folded = new Set(["map.main"]);
  const rows = rowsOf([run("map.main"), ...inside], "all", { now: T0, folded });
  expect(rows.map((row) => [row.run.stepPath, row.inside])).toEqual([["map.main", 2]]);
});

test("turns without their container are shown all the same", () => {
  expect(listed([run("map[3].pick.main")])).toEqual([" map[3].pick.main#1"]);
});

test("a row in a turn says which", () => {
  expect(rowsOf([run("map[3].pick.main")], "all", { now: T0 })[0]?.turn).toBe("map[3]");
});

test("the filters keep what failed, what is live, what took longest", () => {
  const runs = [
    run("fast.main", { startedAt: 0, finishedAt: 1, durationMs: 1000 }),
    run("slow.main", { startedAt: 0, finishedAt: 9, durationMs: 9000 }),
    run("dead.main", { state: "DLQ", startedAt: 0, finishedAt: 2, durationMs: 2000 }),
    run("now.main", { state: "RUNNING", startedAt: 95 }),
    run("map.main", { state: "WAITING", waitsFor: "body", startedAt: 0 }),
  ];
  expect(listed(runs, "failed")).toEqual(["dead.main#1"]);
  expect(listed(runs, "running")).toEqual(["map.main#1", "now.main#1"]);
  expect(listed(runs, "slowest")).toEqual([
    "slow.main#1",
    "now.main#1",
    "dead.main#1",
    "fast.main#1",
  ]);
});

test("what was rolled back is shown on demand", () => {
  const again = run("a.main", { epoch: 1, attempt: 2, queuedAt: 5 });
  const runs = [run("a.main", { superseded: true }), again];
  expect(listed(runs)).toEqual(["a.main#2"]);
  expect(listed(runs, "all", { rolledBack: true })).toEqual(["a.main#1", "a.main#2"]);
});
