import { describe, expect, it } from "vitest";
import type { ExecutionRow } from "../../src/live/frames";
import type { TaskLive } from "../../src/live/live";
import { changes } from "../../src/live/saying";

const execution = (state: string) => ({ state }) as ExecutionRow;
const task = (state: string, word: string, error = "") =>
  ({ state, word, error, outcomes: [], runId: null }) as unknown as TaskLive;
const moment = (state: string, tasks: [string, TaskLive][] = []) => ({
  tasks: new Map(tasks),
  execution: execution(state),
});
const name = (path: string) => path;
const DEAD = task("DLQ", "dead", "by naught");

describe("what is said of a run", () => {
  it("names what failed at its end, though that was said before", () => {
    const before = moment("RUNNING", [["share", DEAD]]);
    const said = changes(before, moment("FAILED", [["share", DEAD]]), name);
    expect(said).toEqual(["The execution failed. share dead: by naught."]);
  });

  it("tells of a failure once while the run goes on", () => {
    const after = moment("RUNNING", [["share", DEAD]]);
    expect(changes(moment("RUNNING"), after, name)).toEqual(["share dead: by naught"]);
    expect(changes(after, after, name)).toEqual([]);
  });

  it("names three of many", () => {
    const many: [string, TaskLive][] = ["a", "b", "c", "d"].map((one) => [one, DEAD]);
    const [said] = changes(moment("RUNNING"), moment("FAILED", many), name);
    expect(said).not.toContain("d dead");
    expect(said).toContain("c dead");
  });

  it("does not recall at a good end what was handled", () => {
    const before = moment("RUNNING", [["share", DEAD]]);
    expect(changes(before, moment("SUCCESS", [["share", DEAD]]), name)).toEqual([
      "The execution succeeded.",
    ]);
  });
});
