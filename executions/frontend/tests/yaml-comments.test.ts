import { expect, test } from "vitest";
import { renameTask } from "../src/document/edits";
import { read } from "../src/document/reading";
import type { Definition, JsonObject } from "../src/document/types";
import { recognised } from "../src/transfer/files";
import { parsed } from "../src/yaml/parsing";
import { asPlainYaml, asYaml } from "../src/yaml/writing";

const TEXT = `# Order import,
# by the shop

schema: valkyr/1
name: order # as the shop calls it
# What runs
tasks:
  # First
  - id: fetch
    # the shop's API
    use: http.request
    with:
      url: https://a.example # test system
      headers:
        # asked for by the shop
        X-Shop: "7"
  # Second
  - id: ship
    use: flow.noop
edges:
  - {from: fetch, to: ship} # the usual way

# the end
`;

const documentOf = (text: string): Definition => {
  const found = parsed(text);
  if (!found.ok) throw new Error(JSON.stringify(found.mistakes));
  return read(found.document, "");
};

test("every comment of a text is there when it is written again", () => {
  expect(asYaml(documentOf(TEXT))).toBe(TEXT);
});

test("comments are no part of what runs, nor of what is compared", () => {
  const document = documentOf(TEXT);
  expect(Object.keys(document.ui ?? {})).toEqual(["comments"]);
  expect(document.tasks.map((task) => task.id)).toEqual(["fetch", "ship"]);
  expect(asPlainYaml(document)).not.toContain("#");
});

test("a text that was written is read as the very same values", () => {
  const once = documentOf(TEXT);
  expect(documentOf(asYaml(once))).toEqual(once);
});

test("comments stay with their tasks when tasks change places", () => {
  const document = documentOf(TEXT);
  const turned = { ...document, tasks: [...document.tasks].reverse() };
  const text = asYaml(turned);
  expect(text).toContain("  # Second\n  - id: ship");
  expect(text).toContain("  # First\n  - id: fetch");
  expect(text).toContain("https://a.example # test system");
});

test("a comment whose place is gone goes to what is around it", () => {
  const document = documentOf(TEXT);
  const [fetch] = document.tasks;
  const without = { ...document, tasks: [{ ...fetch, id: "fetch", with: {} }], edges: [] };
  const text = asYaml(without as Definition);
  for (const words of ["test system", "asked for by the shop", "Second", "the usual way"])
    expect(text).toContain(`#${words.startsWith(" ") ? "" : " "}${words}`);
  expect(parsed(text).ok).toBe(true);
});

test("a text without comments has no ui for them, and takes away those there were", () => {
  const document = documentOf(TEXT.replace(/\s*#.*$/gm, "").trimStart());
  expect(document).not.toHaveProperty("ui");
});

test("notes of the workflow stay beside its comments", () => {
  const ui = { notes: [{ id: "n", x: 1, y: 2, w: 3, h: 4, text: "t" }], comments: [] };
  const document = { ...documentOf(TEXT), ui: { ...documentOf(TEXT).ui, notes: ui.notes } };
  expect(documentOf(asYaml(document)).ui?.notes).toEqual(ui.notes);
  expect(documentOf(asYaml(document)).ui?.comments).toEqual(documentOf(TEXT).ui?.comments);
});

test("comments of another form are kept as they are, and write nothing into the text", () => {
  const odd = (comments: unknown): Definition =>
    read({ schema: "valkyr/1", name: "n", tasks: [], ui: { comments } } as JsonObject, "");
  expect(asYaml(odd("x"))).toContain("ui: {comments: x}");
  const evil = odd([{ at: "name", before: "a\nevil: true" }]);
  expect(documentOf(asYaml(evil))).not.toHaveProperty("evil");
});

test("comments go with a task that gets another id", () => {
  const text = asYaml(renameTask(documentOf(TEXT), "fetch", "load"));
  expect(text).toContain("  # First\n  - id: load\n    # the shop's API\n");
  expect(text).toContain("https://a.example # test system");
});

test("comments of edges go with the tasks at their ends, in the body of these tasks", () => {
  const nested = `schema: valkyr/1
name: order
tasks:
  - id: fetch
    use: flow.noop
  - id: loop
    use: flow.loop
    body:
      tasks:
        - id: fetch
          use: flow.noop
        - id: ship
          use: flow.noop
      edges:
        - {from: fetch, to: ship, on: error} # inside
        - {from: fetch, to: ship} # also inside
edges:
  - {from: fetch, to: loop} # outside
`;
  const outer = asYaml(renameTask(documentOf(nested), "fetch", "load"));
  expect(outer).toContain("{from: load, to: loop} # outside");
  expect(outer).toContain("{from: fetch, to: ship, on: error} # inside");
  const inner = asYaml(renameTask(documentOf(nested), "loop.ship", "send"));
  expect(inner).toContain("{from: fetch, to: send, on: error} # inside");
  expect(inner).toContain("{from: fetch, to: send} # also inside");
  expect(inner).toContain("{from: fetch, to: loop} # outside");
});

test("a file's comments are imported with its workflow", () => {
  const [found] = recognised(TEXT, "order.yaml");
  if (found?.kind !== "workflow") throw new Error(JSON.stringify(found));
  expect(asYaml(read(found.document, ""))).toBe(TEXT);
  expect(JSON.parse(found.text).ui.comments).toHaveLength(10);
  expect(found.format).toBe("json");
});
