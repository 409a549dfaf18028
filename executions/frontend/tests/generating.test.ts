import { expect, test } from "vitest";
import { draftOf } from "../src/generating/answer";
import { promptFor } from "../src/generating/prompt";
import type { Parsed } from "../src/yaml/parsing";
import { moduleType } from "./modules";

const YAML = "schema: valkyr/1\nname: orders\ntasks:\n  - id: a\n    use: flow.noop\nedges: []";

test("the prompt lists each module with its inputs and outcomes", () => {
  const schema = {
    type: "object",
    required: ["url"],
    properties: { url: { type: "string" }, method: { type: "string" } },
  };
  const request = { ...moduleType("http.request", schema), description: "Sends.\nMore." };
  const text = promptFor([request, moduleType("flow.if", {}, ["true", "false"])]);
  expect(text).toContain("- http.request: Sends. with: url*, method.\n");
  expect(text).toContain("- flow.if:  with: nothing. Outcomes: true, false.\n");
});

test("the prompt leaves out the modules that users do not add", () => {
  const imported = { ...moduleType("n8n.placeholder", {}), category: "Import" };
  const text = promptFor([moduleType("data.set", {}), moduleType("flow.pinned", {}), imported]);
  expect(text).toContain("- data.set:");
  expect(text).not.toMatch(/flow\.pinned|n8n\.placeholder/);
});

test("an answer is a draft under the workflow's own name, with or without fences", () => {
  for (const answer of [
    YAML,
    `Here it is:\n\`\`\`yaml\n${YAML}\n\`\`\`\nEnjoy!`,
    `\`\`\`\n${YAML}\`\`\``,
  ]) {
    expect(draftOf(answer, "mine")).toMatchObject({ name: "mine", tasks: [{ id: "a" }] });
  }
});

test("an answer that is no workflow says why", () => {
  expect(draftOf("I cannot help with that.", "mine")).toBe("a definition must be an object");
  expect(draftOf("tasks:\n  - name: b\n", "mine")).toBe('"id" is required');
  expect(draftOf("", "mine")).toBe("a definition must be an object");
  expect(draftOf("a: [", "mine")).toMatch(/^Flow sequence/);
  // In YAML, a sentence with a colon is an object; reading it as an empty workflow would clear the
  // canvas.
  for (const answer of ["Sorry: I cannot.", "tasks: []", "tasks:"]) {
    expect(draftOf(answer, "mine")).toBe('"tasks" is required');
  }
  // @ts-expect-error a text that is not a workflow has at least one mistake
  const none: Parsed = { ok: false, mistakes: [] };
  expect(none.ok).toBe(false);
});
