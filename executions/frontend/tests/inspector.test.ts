import { describe, expect, it } from "vitest";
import type { ModuleType } from "../src/api/shapes";
import type { Definition, JsonObject, Task } from "../src/document/types";
import { aligned, tooFew } from "../src/inspector/aligning";
import {
  chainable,
  undoing,
  withAdded,
  withMoved,
  withoutModule,
} from "../src/inspector/task/chaining";
import { runningSchema } from "../src/inspector/task/runningSchema";
import {
  fieldsOf,
  withChange,
  withField,
  withoutField,
} from "../src/inspector/workflow/inputSchema";
import { inWords } from "../src/inspector/workflow/schedule";
import { usedBy } from "../src/inspector/workflow/usedBy";
import type { CredentialType } from "../src/store/studio";
import { moduleType } from "./moduleType";

describe("a chain of modules", () => {
  const task: Task = { id: "t", use: "data.set", with: { values: {} } };
  const type = { type: "http.request", inputsSchema: {} } as unknown as ModuleType;

  it("begins when a second module is added, and is written short again when one is left", () => {
    const two = withAdded(task, type);
    expect(two.modules?.map((one) => one.id)).toEqual(["main", "request"]);
    expect(two.use).toBeUndefined();
    expect(withoutModule(two, 0)).toEqual({ id: "t", use: "http.request", with: {} });
    expect(withoutModule(task, 0)).toBe(task);
  });

  it("runs in another order when a module is moved", () => {
    const moved = withMoved(withAdded(task, type), 1, 0);
    expect(moved.modules?.map((one) => one.id)).toEqual(["request", "main"]);
  });

  it("keeps what a single module says of its running", () => {
    const kept: Task = {
      id: "t",
      modules: [
        { id: "a", use: "x", retry: "none" },
        { id: "b", use: "y" },
      ],
    };
    expect(withoutModule(kept, 1).modules).toEqual([{ id: "a", use: "x", retry: "none" }]);
  });
});

describe("the modules of a choice", () => {
  const types = [
    moduleType("data.set"),
    moduleType("flow.loop", { container: "loop" }),
    moduleType("flow.if", { outcomes: ["true", "false"] }),
    moduleType("wait.event", { waits: true }),
    moduleType("flow.pinned"),
    moduleType("n8n.placeholder", { category: "Import" }),
  ];
  const names = (found: ModuleType[]): string[] => found.map((one) => one.type);

  it("are those that users add and a chain can contain", () => {
    expect(names(chainable(types))).toEqual(["data.set", "flow.if", "wait.event"]);
  });

  it("are those that users add and an undo step can use", () => {
    expect(names(undoing(types))).toEqual(["data.set"]);
  });
});

describe("the payload's fields", () => {
  const schema = {
    type: "object",
    required: ["id"],
    properties: { id: { type: "integer", minimum: 1 }, note: { description: "free" } },
  };

  it("are those of the schema", () => {
    expect(fieldsOf(schema)).toEqual([
      { name: "id", type: "integer", required: true, description: "" },
      { name: "note", type: "", required: false, description: "free" },
    ]);
  });

  it("change without losing what the list does not show", () => {
    const renamed = withChange(schema, "id", { name: "orderId", type: "number" });
    expect(renamed).toEqual({
      type: "object",
      required: ["orderId"],
      properties: { orderId: { type: "number", minimum: 1 }, note: { description: "free" } },
    });
    expect(withChange(schema, "id", { required: false })).not.toHaveProperty("required");
    expect(withChange(schema, "id", { name: "note" })).toBe(schema);
  });

  it("come and go", () => {
    expect(fieldsOf(withField(withField({}))).map((one) => one.name)).toEqual(["field", "field2"]);
    expect(withoutField(schema, "id")).toEqual({
      type: "object",
      properties: { note: { description: "free" } },
    });
  });
});

it("a variable is used by who reads or sets it", () => {
  const document: Definition = {
    schema: "valkyr/1",
    name: "w",
    tasks: [
      { id: "a", use: "x", with: { text: "{{ vars.carrier }}" } },
      { id: "b", use: "flow.set_variables", with: { values: { carrier: 1 } } },
      { id: "c", use: "x", with: { text: "{{ vars.carriers }}" } },
      { id: "d", use: "x", with: { text: "{{ vars['carrier'] }}" } },
    ],
  };
  expect(usedBy(document, ["carrier"]).get("carrier")).toEqual(["a", "b", "d"]);
});

it.each([
  ["0 8 * * *", "Every day at 08:00"],
  ["*/15 * * * *", "Every 15 minutes"],
  ["*/1 * * * *", "Every minute"],
  ["5 */1 * * *", "Every hour at minute 5"],
  ["30 6 * * mon-fri", "Monday to Friday at 06:30"],
  ["0 2 1 * *", "Every month on day 1 at 02:00"],
  ["5 */4 * * *", "Every 4 hours at minute 5"],
  ["0 0 * * 7", "Every Sunday at 00:00"],
  ["0 8 * 2 *", null],
  ["*/45 * * * *", null],
  ["nonsense", null],
])("the schedule %j is said as %j", (schedule, words) => {
  expect(inWords(schedule)).toBe(words);
});

it("tasks are aligned by their edges and at even distances", () => {
  const places = new Map([
    ["a", { x: 0, y: 10 }],
    ["b", { x: 50, y: 30 }],
    ["c", { x: 200, y: 20 }],
  ]);
  expect(aligned(places, "left").get("c")).toEqual({ x: 0, y: 20 });
  expect(aligned(places, "top").get("b")).toEqual({ x: 50, y: 10 });
  expect(aligned(places, "across").get("b")).toEqual({ x: 100, y: 30 });
});

it("two tasks are aligned, and three are distributed", () => {
  expect(tooFew(1, "left")).toBe("Select at least two tasks.");
  expect(tooFew(2, "top")).toBeUndefined();
  expect(tooFew(1, "down")).toBe("Select at least two tasks.");
  expect(tooFew(2, "across")).toBe("Select at least three tasks.");
  expect(tooFew(3, "down")).toBeUndefined();
});

it("running settings show the module's own as defaults, and only credentials that fit", () => {
  const properties: JsonObject = JSON.parse(`{
    "retry": {"description": "d", "else": {"then": {"enum": ["none", "standard"]}}},
    "timeoutSeconds": {"type": "number"},
    "credential": {"type": "string"}
  }`);
  const workflow = { $defs: { module: { properties } } };
  const type = {
    type: "http.request",
    retry: "standard",
    timeoutSeconds: 30,
    credential: ["basic"],
    queue: "io",
    circuitTarget: "",
  } as unknown as ModuleType;
  const secrets = [
    { name: "shop", type: "basic", fields: [] },
    { name: "key", type: "secret", fields: [] },
    { name: "crm", type: "oauth2", fields: [] },
  ];
  const kinds = [{ name: "oauth2", modules: ["http.*"] }] as unknown as CredentialType[];
  const schema = runningSchema(workflow, type, secrets, kinds);
  expect(schema.properties).toMatchObject({
    retry: { default: "standard", anyOf: [{ enum: ["none", "standard"] }, {}] },
    timeoutSeconds: { default: 30 },
    credential: { enum: ["shop", "crm"] },
  });
  expect(schema.properties).not.toHaveProperty("circuitWaitSeconds");
  expect(runningSchema(workflow, undefined, secrets, kinds).properties).toMatchObject({
    credential: {
      description: "One of the workspace's credentials.",
      enum: ["shop", "key", "crm"],
    },
  });
});
