/** The prompt with which a language model writes a draft. Pure. */
import type { ModuleType } from "../api/shapes";
import type { Json, JsonObject } from "../document/types";
import { offered } from "../palette/search";

/** The rules of a definition, and the modules that users can add, with their inputs. */
export const promptFor = (types: readonly ModuleType[]): string =>
  `You write workflows as YAML. Answer with one YAML document and nothing else: no explanation.

schema: valkyr/1
name: a short name
description: one sentence
input: a JSON Schema of the payload, with type, properties and required
variables: initial values by name, if any are needed
tasks: a list; each has id, name, use and with
edges: a list; each has from, to and, for another outcome than success, on

Rules:
- "use" is one of the modules below. "with" has that module's inputs; those with * are required.
- An id has small letters, digits and _. Each task but the first is the end of an edge.
- Edges make no cycle. "on: error" leads to the task for failures. An outcome such as "true" is in quotes.
- Values may hold expressions: {{ input.name }}, {{ tasks.ID.output.name }}, {{ vars.name }}.
- flow.loop and flow.map have a body with its own tasks and edges, beside "with".
- Where you do not know a value, write {{ todo("what is missing") }}. Invent no address and no password.

Modules:
${offered(types).map(lineOf).join("\n")}
`;

function lineOf({ type, description, outcomes, inputsSchema }: ModuleType): string {
  const inputs = inputsOf(inputsSchema);
  const ways = outcomes.length > 0 ? ` Outcomes: ${outcomes.join(", ")}.` : "";
  return `- ${type}: ${firstLine(description)} with: ${inputs || "nothing"}.${ways}`;
}

function inputsOf(schema: JsonObject): string {
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
  return properties.map((key) => (required.has(key) ? `${key}*` : key)).join(", ");
}

const firstLine = (text: string): string => (text.split("\n")[0] ?? "").slice(0, 120);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
