import { expect, test } from "vitest";
import type { Definition } from "../../src/document/types";
import { criticalPath, waysOf } from "../../src/monitor/critical";
import type { Run } from "../../src/monitor/runs";
import { of, run, T0, task } from "./made";

const edge = (from: string, to: string) => ({ from, to });
const done = (path: string, queuedAt: number, finishedAt: number, more = {}): Run =>
  run(path, { queuedAt, startedAt: queuedAt, finishedAt, ...more });
const path = (document: Definition, ...runs: Run[]): string[] =>
  [...criticalPath(waysOf(document), runs, T0 + 100_000)].sort();

const DIAMOND = of(
  ["a", "b", "c", "d"].map((id) => task(id)),
  [edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")],
);

test("of two branches the one that ended later counts", () => {
  const runs = [done("a.main", 0, 1), done("b.main", 1, 3), done("c.main", 1, 8)];
  const found = path(DIAMOND, ...runs, done("d.main", 8, 9));
  expect(found).toEqual(["a.main#1", "c.main#1", "d.main#1"]);
});

test("a run that is not over ends now", () => {
  const running = run("c.main", { state: "RUNNING", queuedAt: 1, startedAt: 2 });
  const found = path(DIAMOND, done("a.main", 0, 1), done("b.main", 1, 50), running);
  expect(found).toEqual(["a.main#1", "c.main#1"]);
});

test("all attempts of a step are on the way to its end", () => {
  const runs = [done("a.main", 0, 1, { state: "FAILED" }), done("a.main", 1, 5, { attempt: 2 })];
  expect(path(of([task("a")]), ...runs)).toEqual(["a.main#1", "a.main#2"]);
});

test("steps of a chain follow each other", () => {
  const found = path(of([task("a", ["x", "y"])]), done("a.x", 0, 1), done("a.y", 1, 2));
  expect(found).toEqual(["a.x#1", "a.y#1"]);
});

test("what was skipped decided nothing", () => {
  const skipped = done("b.main", 1, 8, { state: "SKIPPED" });
  const runs = [done("a.main", 0, 1), skipped, done("c.main", 1, 3), done("d.main", 8, 9)];
  expect(path(DIAMOND, ...runs)).toEqual(["a.main#1", "c.main#1", "d.main#1"]);
});

test("of a map the items that made room for each other count, down to the last", () => {
  const document = of([task("map", ["main"], [task("x")]), task("end")], [edge("map", "end")]);
  const found = path(
    document,
    done("map.main", 0, 20, { waitsFor: "body" }),
    done("map[0].x.main", 0, 4),
    done("map[1].x.main", 0, 9),
    done("map[2].x.main", 4, 6),
    done("map[3].x.main", 9, 20),
    done("end.main", 20, 21),
  );
  expect(found).toEqual(["end.main#1", "map.main#1", "map[1].x.main#1", "map[3].x.main#1"]);
});

test("of a loop every turn counts", () => {
  const loop = task("loop", ["main"], [task("x"), task("y")]);
  loop.body?.edges?.push(edge("x", "y"));
  const turns = [0, 1].flatMap((turn) => [
    done(`loop[${turn}].x.main`, 2 * turn, 2 * turn + 1),
    done(`loop[${turn}].y.main`, 2 * turn + 1, 2 * turn + 2),
  ]);
  expect(path(of([loop]), done("loop.main", 0, 4, { waitsFor: "body" }), ...turns)).toHaveLength(5);
});

test("nothing has no path", () => {
  expect(path(DIAMOND)).toEqual([]);
});

test("a path through two thousand runs is found at once", () => {
  const document = of([task("map", ["main"], [task("x")])]);
  const items = Array.from({ length: 2000 }, (_, at) => done(`map[${at}].x.main`, at, at + 1));
  const map = done("map.main", 0, 2000, { waitsFor: "body" });
  expect(path(document, map, ...items)).toHaveLength(2001);
});
