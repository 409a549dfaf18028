import { expect, test } from "vitest";
import { compared } from "../src/diff/compare";
import { type Line, lineDiff, withContext } from "../src/diff/lines";
import type { Definition, Task } from "../src/document/types";
import { set, workflow } from "./modules";

const told = (before: Definition, after: Definition): string[] =>
  compared(before, after).map((one) => {
    const fields = one.fields.map(
      (field) =>
        `${field.pointer.join(".")}: ${JSON.stringify(field.before)} → ${JSON.stringify(field.after)}`,
    );
    return [`${one.what} ${one.kind} ${one.title}`, ...fields].join("; ");
  });

test("tasks and edges that came, went or changed are told, values with them", () => {
  const before = workflow([set("a", { x: 1, y: [1] }), set("b")], [{ from: "a", to: "b" }]);
  const after = workflow(
    [set("a", { x: 2, y: [1, 2] }), set("c")],
    [{ from: "a", to: "c", on: "error" }],
  );
  expect(told(before, after)).toEqual([
    "task changed a; with.values.x: 1 → 2; with.values.y.1: undefined → 2",
    "task added c",
    "task removed b",
    "edge added a → c on error",
    "edge removed a → b",
  ]);
});

test("places on the canvas, the order of keys and a written-out success are no changes", () => {
  const before = workflow([set("a", { x: 1, y: 2 })], [{ from: "a", to: "a" }]);
  const moved: Task = { ...set("a", { y: 2, x: 1 }), ui: { x: 4, y: 5 } };
  expect(told(before, workflow([moved], [{ from: "a", to: "a", on: "success" }]))).toEqual([]);
});

test("what the workflow says of itself and the tasks of bodies are compared too", () => {
  const loop = (inner: Task): Task => ({
    id: "loop",
    use: "flow.loop",
    with: {},
    body: { tasks: [inner], edges: [] },
  });
  const before: Definition = {
    ...workflow([loop(set("in"))]),
    triggers: [{ type: "CRON", schedule: "0 2 * * *" }],
  };
  const after: Definition = {
    ...workflow([loop(set("in", { x: 1 }))]),
    settings: { priority: 7 },
    triggers: [{ type: "CRON", schedule: "0 3 * * *" }],
  };
  expect(told(before, after)).toEqual([
    "workflow changed settings; settings.priority: undefined → 7",
    'workflow changed triggers; triggers.0.schedule: "0 2 * * *" → "0 3 * * *"',
    "task changed loop.in; with.values.x: undefined → 1",
  ]);
});

const drawn = (lines: readonly Line[]): string[] => lines.map(({ mark, text }) => mark + text);

test("lines that differ are marked, the rest is kept", () => {
  expect(drawn(lineDiff("a\nb\nc\nd", "a\nc\nx\nd"))).toEqual([" a", "-b", " c", "+x", " d"]);
  expect(drawn(lineDiff("", "a"))).toEqual(["-", "+a"]);
});

test("each side can be read out of the difference again, also of long texts", () => {
  const old = Array.from({ length: 3000 }, (_, at) => `line ${at % 700} ${at % 11}`);
  const now = old.flatMap((line, at) =>
    at % 5 === 0 ? [`new ${at}`] : at % 7 === 0 ? [] : [line],
  );
  const lines = lineDiff(old.join("\n"), now.join("\n"));
  const side = (mark: string): string[] =>
    lines.filter((line) => line.mark === " " || line.mark === mark).map((line) => line.text);
  expect(side("-")).toEqual(old);
  expect(side("+")).toEqual(now);
});

test("equal lines far from a change become their number", () => {
  const lines = lineDiff("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7");
  expect(withContext(lines, 1).map((one) => (typeof one === "number" ? one : one.text))).toEqual([
    4,
    "5",
    "6",
    "7",
  ]);
});
