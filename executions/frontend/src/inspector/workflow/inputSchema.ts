/** The payload's JSON Schema as a list of fields. Pure. Other keywords of the schema are kept. */
import type { Json, JsonObject } from "../../document/types";
import { t } from "../../words/t";

export interface InputField {
  name: string;
  type: string;
  required: boolean;
  description: string;
}

/** Types and their names in the list; "" means any type. */
export const TYPES: readonly [string, string][] = [
  ["string", t("inspector.text")],
  ["number", t("inspector.number")],
  ["integer", t("inspector.wholeNumber")],
  ["boolean", t("inspector.yesOr")],
  ["array", t("inspector.list")],
  ["object", t("inspector.object")],
  ["", t("inspector.anything")],
];

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const propertiesOf = (schema: JsonObject): [string, JsonObject][] =>
  Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, one]) => [
    name,
    isObject(one) ? one : {},
  ]);

const requiredOf = (schema: JsonObject): string[] =>
  Array.isArray(schema.required) ? schema.required.map(String) : [];

/** Return the fields of a schema. */
export function fieldsOf(schema: JsonObject): InputField[] {
  const required = requiredOf(schema);
  return propertiesOf(schema).map(([name, one]) => ({
    name,
    type: typeof one.type === "string" ? one.type : "",
    required: required.includes(name),
    description: typeof one.description === "string" ? one.description : "",
  }));
}

/** Add a field with a free name. */
export function withField(schema: JsonObject): JsonObject {
  const names = propertiesOf(schema).map(([name]) => name);
  let name = "field";
  for (let number = 2; names.includes(name); number += 1) name = `field${number}`;
  const properties = {
    ...(schema.properties as JsonObject | undefined),
    [name]: { type: "string" },
  };
  return { type: "object", ...schema, properties };
}

/** Change a field; return the same schema if the new name is taken or empty. */
export function withChange(
  schema: JsonObject,
  name: string,
  changes: Partial<InputField>,
): JsonObject {
  const next = changes.name ?? name;
  const all = propertiesOf(schema);
  if (next !== name && (next === "" || all.some(([one]) => one === next))) return schema;
  const properties = all.map(([one, part]) =>
    one === name ? [next, changed(part, changes)] : [one, part],
  );
  const required = requiredOf(schema).map((one) => (one === name ? next : one));
  return withRequired(
    { ...schema, properties: Object.fromEntries(properties) },
    changes.required === undefined
      ? required
      : [...required.filter((one) => one !== next), ...(changes.required ? [next] : [])],
  );
}

export function withoutField(schema: JsonObject, name: string): JsonObject {
  const properties = propertiesOf(schema).filter(([one]) => one !== name);
  const required = requiredOf(schema).filter((one) => one !== name);
  return withRequired({ ...schema, properties: Object.fromEntries(properties) }, required);
}

function withRequired(schema: JsonObject, required: string[]): JsonObject {
  const { required: _, ...rest } = schema;
  return required.length > 0 ? { ...rest, required } : rest;
}

function changed(part: JsonObject, { type, description }: Partial<InputField>): JsonObject {
  const { type: oldType, description: oldText, ...rest } = part;
  const nextType = type === undefined ? oldType : type || undefined;
  const text = description === undefined ? oldText : description || undefined;
  return {
    ...(nextType === undefined ? {} : { type: nextType }),
    ...(text === undefined ? {} : { description: text }),
    ...rest,
  };
}
