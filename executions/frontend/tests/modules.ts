import type { ModuleType } from "../src/api/shapes";
import type { Definition, Edge, JsonObject, Task } from "../src/document/types";

/** Return a module type with these inputs; with outcomes, it is a branch module. */
export const moduleType = (
  type: string,
  inputsSchema: JsonObject,
  outcomes: string[] = [],
): ModuleType => ({
  type,
  title: type,
  category: "test",
  description: "",
  queue: "default",
  inline: false,
  effect: "none",
  outcomes,
  writesVariables: false,
  retry: "standard",
  timeoutSeconds: 30,
  credential: [],
  takesSecrets: true,
  circuitTarget: "",
  example: {},
  inputsSchema,
  outputsSchema: null,
});

export const TYPES: ReadonlyMap<string, ModuleType> = new Map(
  [
    moduleType("data.set", {
      type: "object",
      properties: { values: { type: "object" } },
      required: ["values"],
      additionalProperties: false,
    }),
    moduleType("http.request", {
      type: "object",
      additionalProperties: false,
      required: ["url"],
      properties: {
        url: { type: "string", maxLength: 40 },
        method: { enum: ["GET", "POST"] },
        maxBytes: { type: "integer", maximum: 300 },
        seconds: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 60 },
        tries: {
          anyOf: [{ type: "integer", minimum: 0, maximum: 300 }, { type: "null" }],
        },
        headers: {
          type: "object",
          additionalProperties: { anyOf: [{ type: "string" }, { type: "integer" }] },
        },
        parts: { anyOf: [{ type: "array", items: { $ref: "#/$defs/Part" } }, { type: "null" }] },
      },
      $defs: {
        Part: {
          type: "object",
          required: ["name"],
          additionalProperties: false,
          properties: { name: { type: "string", minLength: 2 } },
        },
      },
    }),
    moduleType("flow.if", { type: "object", properties: { condition: {} } }, ["true", "false"]),
    moduleType("flow.loop", { type: "object" }),
  ].map((type) => [type.type, type]),
);

/** A task without problems. */
export const set = (id: string, values: JsonObject = {}): Task => ({
  id,
  use: "data.set",
  with: { values },
});

export const workflow = (tasks: Task[], edges: Edge[] = []): Definition => ({
  schema: "valkyr/1",
  name: "order",
  tasks,
  edges,
});
