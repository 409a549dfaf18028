/** Changes a JSON Schema so that a text with a template is valid for any type. */
import type { Json, JsonObject } from "../document/types";

const TEMPLATE: JsonObject = { type: "string", pattern: "\\{\\{" };
const SCHEMAS = new Set([
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const MAPS = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Wrap the schema, and every schema in it, in "if the value is not a template". */
export function tolerant(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const { $defs, ...rest } = inner(schema);
  const defs: JsonObject = $defs === undefined ? {} : { $defs };
  return { ...defs, if: TEMPLATE, else: rest };
}

function inner(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    if (SCHEMAS.has(key)) return [key, tolerant(value)];
    if (LISTS.has(key) && Array.isArray(value)) return [key, value.map(tolerant)];
    if (MAPS.has(key) && isObject(value)) return [key, eachTolerant(value)];
    return [key, value];
  });
  return Object.fromEntries(entries);
}

const eachTolerant = (map: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, tolerant(value)]));
