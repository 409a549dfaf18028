/** A sample payload for a workflow's input schema. Pure. */
import type { Json, JsonObject } from "../document/types";

const DEEP = 6;

/**
 * Return a minimal valid payload with the schema's defaults and examples; `{}` without a schema.
 */
export function sampleOf(schema: JsonObject | undefined): Json {
  return schema === undefined ? {} : sampleFor(schema, DEEP);
}

function sampleFor(schema: JsonObject, depth: number): Json {
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  for (const key of ["examples", "enum"]) {
    const offered = schema[key];
    if (Array.isArray(offered) && offered[0] !== undefined) return offered[0];
  }
  return byType(schema, depth);
}

function byType(schema: JsonObject, depth: number): Json {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object" || isObject(schema.properties)) return objectOf(schema, depth);
  if (type === "array") return itemsOf(schema, depth);
  if (type === "string") return "";
  if (type === "boolean") return false;
  if (type === "number" || type === "integer") {
    return typeof schema.minimum === "number" ? schema.minimum : 0;
  }
  return type === "null" ? null : {};
}

/** Return an object with the required properties and those that have defaults. */
function objectOf(schema: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const made: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const wanted =
      required.includes(name) || (isObject(property) && property.default !== undefined);
    if (wanted && depth > 0)
      made[name] = isObject(property) ? sampleFor(property, depth - 1) : null;
  }
  return made;
}

function itemsOf(schema: JsonObject, depth: number): Json[] {
  const least = typeof schema.minItems === "number" ? schema.minItems : 0;
  if (least < 1 || depth < 1 || !isObject(schema.items)) return [];
  const item = sampleFor(schema.items, depth - 1);
  return Array.from({ length: Math.min(least, 10) }, () => item);
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
