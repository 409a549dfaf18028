import { expect, test } from "vitest";
import { pasted } from "../src/document/copying";
import { renameTask } from "../src/document/edits";
import { taskAt } from "../src/document/paths";
import type { Definition, Task } from "../src/document/types";

const reading = (id: string): Task => ({
  id,
  use: "data.set",
  with: { values: { read: "{{ tasks.old.output }}" } },
});
const loop = (id: string, tasks: Task[]): Task => ({
  id,
  use: "flow.loop",
  with: { until: "{{ tasks.old.outcome }}", maxIterations: "{{ tasks.old.output }}" },
  body: { tasks, edges: [] },
});
const document: Definition = {
  schema: "valkyr/1",
  name: "order",
  tasks: [
    { id: "old", use: "data.set", with: {} },
    loop("hides", [{ id: "old", use: "data.set" }, reading("inside")]),
    loop("sees", [reading("inside"), loop("hides", [{ id: "old", use: "data.set" }])]),
  ],
  edges: [],
  output: ["{{ tasks.old.output }}"],
};
const read = (id: string) => ({ values: { read: `{{ tasks.${id}.output }}` } });

test("a body with a task of the same id keeps its templates and its condition", () => {
  const changed = renameTask(document, "old", "new");
  expect(taskAt(changed, "hides.inside")?.with).toEqual(read("old"));
  for (const path of ["hides", "sees.hides"]) {
    expect(taskAt(changed, path)?.with).toEqual({
      until: "{{ tasks.old.outcome }}",
      maxIterations: "{{ tasks.new.output }}",
    });
  }
});

test("a body without such a task follows the new id, and so does the output", () => {
  const changed = renameTask(document, "old", "new");
  expect(taskAt(changed, "sees.inside")?.with).toEqual(read("new"));
  expect(taskAt(changed, "sees")?.with?.until).toBe("{{ tasks.new.outcome }}");
  expect(changed.output).toEqual(["{{ tasks.new.output }}"]);
});

test("the condition of a loop follows a task of its body", () => {
  const changed = renameTask(document, "hides.old", "new");
  expect(taskAt(changed, "hides.inside")?.with).toEqual(read("new"));
  expect(taskAt(changed, "hides")?.with).toEqual({
    until: "{{ tasks.new.outcome }}",
    maxIterations: "{{ tasks.old.output }}",
  });
  expect(changed.output).toBe(document.output);
});

test("a pasted container with such a task keeps its templates", () => {
  const clip = { tasks: document.tasks.slice(0, 2), edges: [], notes: [] };
  const { document: changed } = pasted(document, [], clip, { x: 0, y: 0 });
  expect(taskAt(changed, "hides_2.inside")?.with).toEqual(read("old"));
  expect(taskAt(changed, "hides_2")?.with).toEqual({
    until: "{{ tasks.old.outcome }}",
    maxIterations: "{{ tasks.old_2.output }}",
  });
});

test("an id that is not a name is read in brackets", () => {
  const changed = renameTask(document, "old", "new-id");
  expect(changed.output).toEqual(['{{ tasks["new-id"].output }}']);
  expect(renameTask(changed, "new-id", "third").output).toEqual(['{{ tasks["third"].output }}']);
});
