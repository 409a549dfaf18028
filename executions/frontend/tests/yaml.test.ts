import { expect, test } from "vitest";
import { shared } from "../src/document/sharing";
import { parsed, placeIn } from "../src/yaml/parsing";
import { pointerOf } from "../src/yaml/text";
import { asYaml } from "../src/yaml/writing";
import { set, workflow } from "./modules";

const saidOf = (text: string): string[] => {
  const found = parsed(text);
  return found.ok ? [] : found.mistakes.map((one) => `${one.line}:${one.column} ${one.message}`);
};

test("YAML and JSON become the same values", () => {
  const document = workflow([set("a", { on: "true", count: 3 })]);
  expect(parsed(asYaml(document))).toEqual({ ok: true, document });
  expect(parsed(JSON.stringify(document))).toEqual({ ok: true, document });
});

test("a mistake in the text is told with its line and column", () => {
  expect(saidOf("name: order\ntasks:\n  - id: a\n   use: b\n")[0]).toMatch(/^4:\d+ /);
  expect(saidOf("a: 1\na: 2\n")[0]).toMatch(/^2:1 /);
});

test("what is no workflow at all is told where it is not", () => {
  expect(saidOf("just words")).toEqual(["1:1 a definition must be an object"]);
  expect(saidOf("tasks:\n  - id: a\n  - name: b\n")).toEqual(['3:5 "id" is required']);
  expect(saidOf("tasks:\n  - id: a\n    with: 3\n")).toEqual(['3:11 "with" must be an object']);
  expect(saidOf("tasks:\n  - id: a\n    body:\n      tasks:\n        - 4\n")).toEqual([
    "5:11 expected an object here",
  ]);
});

test("aliases that multiply and texts past the limit are refused", () => {
  const bomb = ["a: &a [x, x, x, x]"];
  for (let level = 0; level < 8; level += 1) {
    const [old, now] = ["abcdefghij"[level], "abcdefghij"[level + 1]];
    bomb.push(`${now}: &${now} [*${old}, *${old}, *${old}, *${old}]`);
  }
  expect(saidOf(bomb.join("\n"))).toHaveLength(1);
  expect(saidOf(`name: ${"x".repeat(1024 * 1024)}`)).toEqual(["1:1 the text is larger than 1 MiB"]);
});

test("a task's place in the text is found, in bodies too", () => {
  const document = workflow([
    set("a"),
    { id: "loop", use: "flow.loop", with: {}, body: { tasks: [set("in")], edges: [] } },
  ]);
  const text = asYaml(document);
  const place = placeIn(text, pointerOf(document, "loop.in"));
  expect(text.split("\n")[(place?.line ?? 0) - 1]).toContain("id: in");
});

test("what did not change in a text is the same object in the document", () => {
  const old = workflow([set("a"), set("b")], [{ from: "a", to: "b" }]);
  expect(shared(old, structuredClone(old))).toBe(old);
  const now = structuredClone(old);
  now.tasks = [set("new"), ...now.tasks];
  const made = shared(old, now);
  expect(made.tasks.map((task) => task.id)).toEqual(["new", "a", "b"]);
  expect(made.tasks[1]).toBe(old.tasks[0]);
  expect(made.edges).toBe(old.edges);
});
