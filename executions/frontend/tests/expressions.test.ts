import { describe, expect, it } from "vitest";
import type { ModuleType } from "../src/api/shapes";
import type { Definition } from "../src/document/types";
import { type Completion, chosen, complete, inserted, opened } from "../src/expressions/completing";
import { atCursor } from "../src/expressions/cursor";
import { find, known, nameOf } from "../src/expressions/names";
import { follow, readPath, writePath } from "../src/expressions/path";
import { holdsTemplate, preview } from "../src/expressions/preview";
import { namesFor, type Surroundings } from "../src/expressions/scope";
import { pathsIn, scopeFor } from "../src/expressions/scopeFor";
import { readable } from "../src/expressions/upstream";
import { speak } from "../src/words/language";

/** Return the text without its `|`, and the position of the `|`. */
function at(marked: string): [string, number] {
  const place = marked.indexOf("¦");
  return [marked.replace("¦", ""), place];
}

describe("what is at the cursor", () => {
  it.each([
    ["{{ ¦ }}", [], ""],
    ["{{ in¦ }}", [], "in"],
    ["{{ input.¦ }}", ["input"], ""],
    ["{{ input.or¦ }}", ["input"], "or"],
    ["a {{ tasks.fetch.output.bo¦", ["tasks", "fetch", "output"], "bo"],
    ['{{ tasks["my-task"].¦ }}', ["tasks", "my-task"], ""],
    ['{{ tasks["my¦ }}', ["tasks"], "my"],
    ["{{ rows[0].¦ }}", ["rows", 0], ""],
    ["{{ 1 + vars.a¦ }}", ["vars"], "a"],
    ["{{ f(input.a, input.b¦) }}", ["input"], "b"],
  ])("is a name in %j", (marked, steps, partial) => {
    expect(atCursor(...at(marked))).toMatchObject({ is: "name", steps, partial });
  });

  it("is a filter behind a bar", () => {
    expect(atCursor(...at("{{ input.a | lo¦ }}"))).toMatchObject({ is: "filter", partial: "lo" });
  });

  it.each(["plain ¦ text", "{{ input.a }} ¦", "{{ 'in¦' }}", "{¦{ a }}", "{{ f(a).¦ }}"])(
    "is nothing in %j",
    (marked) => {
      expect(atCursor(...at(marked))).toBeNull();
    },
  );
});

describe("paths", () => {
  it("are read and written as templates have them", () => {
    const steps = ["tasks", "my-task", "output", "rows", 0, "a b"];
    const text = 'tasks["my-task"].output.rows[0]["a b"]';
    expect(writePath(steps)).toBe(text);
    expect(readPath(text)).toEqual(steps);
    expect(readPath(" input . a ")).toEqual(["input", "a"]);
    expect(readPath("input.a + 1")).toBeNull();
    expect(readPath("input.a | upper")).toBeNull();
    expect(readPath("")).toBeNull();
  });

  it("follow own keys alone", () => {
    expect(follow({ a: [{ b: 1 }] }, ["a", 0, "b"])).toBe(1);
    expect(follow({}, ["constructor"])).toBeUndefined();
    expect(follow("text", ["length"])).toBeUndefined();
  });
});

const NAMES = [
  nameOf("input", "the payload", { orderId: 7, "two words": true, rows: [{ id: 1 }] }),
  nameOf("index", "its number", undefined),
];

describe("completing", () => {
  const labels = (marked: string): string[] =>
    complete(...at(marked), NAMES)?.options.map((one) => one.label) ?? [];

  it("offers names, then their parts with the last values", () => {
    expect(labels("{{ ¦")).toEqual(["input", "index"]);
    expect(labels("{{ input.¦")).toEqual(["orderId", "two words", "rows"]);
    const found = complete(...at("{{ input.o¦"), NAMES);
    expect(found?.options[0]).toMatchObject({ label: "orderId", seen: "7" });
  });

  it("puts what begins with the typed letters before what holds them", () => {
    expect(labels("{{ input.r¦")).toEqual(["rows", "orderId", "two words"]);
  });

  it("ends when a name without parts is written in full", () => {
    expect(labels("{{ index¦")).toEqual([]);
  });

  it("offers the sandbox's filters", () => {
    expect(labels("{{ input.a | jo¦")).toEqual(["join"]);
  });

  const choose = (marked: string, label: string): string => {
    const [text, place] = at(marked);
    const found = complete(text, place, NAMES) as Completion;
    const option = found.options.find((one) => one.label === label);
    if (!option) throw new Error(`no ${label} among the options`);
    const edited = chosen(text, found, option);
    return `${edited.text.slice(0, edited.place)}¦${edited.text.slice(edited.place)}`;
  };

  it("writes what is chosen, and closes braces that are open", () => {
    expect(choose("{{¦", "input")).toBe("{{ input¦ }}");
    expect(choose("x {{ input.or¦ }} y", "orderId")).toBe("x {{ input.orderId¦ }} y");
    expect(choose("{{ input.¦", "two words")).toBe('{{ input["two words"]¦ }}');
    expect(choose("{{ input.rows.¦ }}", "[0]")).toBe("{{ input.rows[0]¦ }}");
    expect(choose("{{ input.a | up¦ }}", "upper")).toBe("{{ input.a | upper¦ }}");
  });

  it("puts a clicked path in braces, unless it stands in some", () => {
    expect(inserted("a  b", 2, 2, "input.x")).toEqual({ text: "a {{ input.x }} b", place: 15 });
    expect(inserted("{{  }}", 3, 3, "input.x").text).toBe("{{ input.x }}");
  });

  it("opens braces on demand", () => {
    expect(opened("ab", 1)).toEqual({ text: "a{{ b", place: 4 });
  });
});

describe("the preview", () => {
  it("keeps the type of a whole expression and fills texts", () => {
    expect(preview("{{ input.orderId }}", NAMES)).toBe(7);
    expect(preview("no. {{ input.orderId }}!", NAMES)).toBe("no. 7!");
    expect(preview("{{ input.orderId }}{{ input.orderId }}", NAMES)).toBe("77");
  });

  it("says nothing of what it cannot work out", () => {
    expect(preview("{{ input.missing }}", NAMES)).toBeUndefined();
    expect(preview("{{ input.orderId + 1 }}", NAMES)).toBeUndefined();
    expect(preview("{{ secrets.key }}", NAMES)).toBeUndefined();
    expect(holdsTemplate("{{ a }}")).toBe(true);
    expect(holdsTemplate("{ a }")).toBe(false);
  });
});

const http = {
  type: "http.request",
  title: "HTTP request",
  outcomes: [],
  takesSecrets: true,
  outputsSchema: {
    properties: { status: { type: "integer" }, file: { $ref: "#/$defs/File" } },
    $defs: { File: { properties: { path: { type: "string" } } } },
  },
} as unknown as ModuleType;

const DOCUMENT: Definition = {
  schema: "valkyr/1",
  name: "order",
  input: { properties: { orderId: { type: "integer" } } },
  variables: { carrier: "dhl" },
  tasks: [
    { id: "fetch", use: "http.request", with: {} },
    { id: "other", use: "http.request", with: {} },
    {
      id: "each",
      use: "flow.map",
      with: {},
      body: {
        tasks: [
          { id: "pick", use: "http.request" },
          {
            id: "pack",
            modules: [
              { id: "a", use: "http.request" },
              { id: "b", use: "data.set" },
            ],
          },
        ],
        edges: [{ from: "pick", to: "pack" }],
      },
    },
    { id: "last", use: "data.set", with: {} },
  ],
  edges: [
    { from: "fetch", to: "each" },
    { from: "each", to: "last" },
  ],
};

const AROUND: Surroundings = {
  document: DOCUMENT,
  types: new Map([["http.request", http]]),
  seen: {
    payload: { orderId: 7 },
    of: (path) =>
      path === "fetch" ? { outputs: { status: 200 }, outcome: "success", error: null } : undefined,
  },
  secrets: [
    { name: "shop", type: "basic", fields: ["username", "password"] },
    { name: "key", type: "secret", fields: ["value"] },
  ],
};

describe("what templates may name", () => {
  const children = (path: string, steps: string[], module = 0): unknown[] =>
    (find(namesFor(AROUND, { path, module }), steps)?.children?.() ?? []).map((one) => one.step);

  it("are tasks before it, in its body and around it", () => {
    expect(readable(DOCUMENT, "each.pack").map((one) => one.path)).toEqual(["each.pick", "fetch"]);
    expect(children("last", ["tasks"])).toEqual(["each", "fetch"]);
    expect(children("fetch", ["tasks"])).toEqual([]);
  });

  it("are outputs as they were, and as the module promises", () => {
    expect(children("last", ["tasks", "fetch", "output"])).toEqual(["status", "file"]);
    expect(children("last", ["tasks", "fetch", "output", "file"])).toEqual(["path"]);
    const names = namesFor(AROUND, { path: "last" });
    expect(known(names, ["tasks", "fetch", "output", "status"])).toBe(200);
    expect(known(names, ["vars", "carrier"])).toBe("dhl");
    expect(known(names, ["input", "orderId"])).toBe(7);
  });

  it("are the item in a map, and the module before in a chain", () => {
    const roots = (path: string, module: number): unknown[] =>
      namesFor(AROUND, { path, module }).map((one) => one.step);
    expect(roots("each.pack", 1)).toEqual(expect.arrayContaining(["previous", "item", "index"]));
    expect(roots("each.pack", 0)).not.toContain("previous");
    expect(roots("last", 0)).not.toContain("item");
  });

  it("are secrets where the module may name them", () => {
    expect(children("fetch", ["secrets"])).toEqual(["shop", "key"]);
    expect(children("fetch", ["secrets", "shop"])).toEqual(["username", "password"]);
    expect(namesFor(AROUND, { path: "last" }).map((one) => one.step)).not.toContain("secrets");
  });

  it("are described in the language of the page", async () => {
    await speak("de");
    const names = namesFor(AROUND, { path: "fetch" });
    await speak("en");
    expect(find(names, ["vars"])?.about).toBe("Variablen");
    await speak("es");
    expect(find(names, ["secrets", "shop", "password"])?.about).toBe("campo");
    await speak("en");
  });

  it("are all tasks for the workflow's output", () => {
    const names = namesFor(AROUND, { path: null });
    expect(
      find(names, ["tasks"])
        ?.children?.()
        .map((one) => one.step),
    ).toEqual(["fetch", "other", "each", "last"]);
  });
});

it("a value that was too large to be told has no parts and no preview", () => {
  const names = [nameOf("input", "the payload", { $truncated: "It is long.", runId: "x" })];
  expect(complete("{{ input.", 9, names)).toBeNull();
  expect(preview("{{ input }}", names)).toBeUndefined();
});

describe("the data that a template reads", () => {
  const result = (step: string, value: unknown) => ({
    step,
    about: "",
    children: () => [
      nameOf("output", "", value as never),
      { step: "outcome", about: "", value: value === undefined ? undefined : "success" },
    ],
  });
  const names = [
    nameOf("input", "", { n: 40, list: [1, 2] }),
    { step: "vars", about: "", children: () => [nameOf("carrier", "", "post")] },
    {
      step: "tasks",
      about: "",
      children: () => [result("a", { rows: [1] }), result("b-c", 2), result("later", undefined)],
    },
    { step: "item", about: "" },
    { step: "secrets", about: "", children: () => [nameOf("shop", "", "x")] },
  ];

  it("is found by its paths, not in texts, filters or arguments", () => {
    const text =
      "{{ input.n + tasks[\"b-c\"].output | round(input.list[0]) }} input.x {{ 'vars.y' }}";
    expect(pathsIn(text, names)).toEqual([
      ["input", "n"],
      ["tasks", "b-c", "output"],
      ["input", "list", 0],
    ]);
    expect(pathsIn("{{ f(a).input | map(attribute='input') }}", names)).toEqual([]);
  });

  it("is that of the names it reads, of tasks those alone", () => {
    expect(scopeFor("{{ input.n * 2 }}", names)).toEqual({ input: { n: 40, list: [1, 2] } });
    expect(scopeFor("{{ vars.carrier | upper }}", names)).toEqual({ vars: { carrier: "post" } });
    expect(scopeFor("{{ tasks.a.output.rows | sum }}", names)).toEqual({
      tasks: {
        a: { output: { rows: [1] }, outcome: "success", error: null, history: [] },
      },
    });
    expect(scopeFor("{{ 1 + 1 }}", names)).toEqual({});
  });

  it("is not there for a task that did not run, an item, or a secret", () => {
    for (const text of [
      "tasks.later.output",
      "item.name | upper",
      "input.n + item",
      "secrets.shop",
    ])
      expect(scopeFor(`{{ ${text} }}`, names)).toBeNull();
  });

  it("is there for a key that the value does not have: evaluating says so", () => {
    expect(scopeFor("{{ input.nope | upper }}", names)).toEqual({
      input: { n: 40, list: [1, 2] },
    });
  });
});
