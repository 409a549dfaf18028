/** Reduces a JSON Schema to the few kinds of fields that forms have. */
import type { Json, JsonObject } from "../document/types";
import { t } from "../words/t";

export interface Property {
  key: string;
  schema: JsonObject;
  required: boolean;
}

export type Kind =
  | { is: "text" }
  | { is: "number"; whole: boolean }
  | { is: "yesno" }
  | { is: "choice"; options: Json[] }
  | { is: "list"; items: JsonObject }
  | { is: "map"; values: JsonObject }
  | { is: "object"; properties: Property[] };

/** One field: the kinds of values that it accepts (at least one), and its schema without `$ref`. */
export interface Shape {
  kinds: Kind[];
  nullable: boolean;
  schema: JsonObject;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Resolve a schema's `$ref`; keywords beside the reference take precedence. */
export function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  const reference = schema.$ref;
  if (typeof reference !== "string" || !reference.startsWith("#/$defs/")) return schema;
  const found = isObject(root.$defs) ? root.$defs[reference.slice(8)] : undefined;
  const { $ref: _, ...beside } = schema;
  return isObject(found) ? { ...resolved(found, root), ...beside } : beside;
}

/** Return the kinds of a schema; all kinds if the schema does not restrict them. */
export function shapeOf(raw: JsonObject, root: JsonObject): Shape {
  const schema = resolved(raw, root);
  const alternatives = alternativesOf(schema, root);
  const kinds: Kind[] = [];
  for (const one of alternatives) {
    for (const kind of kindsOf(one, root)) if (!kinds.some((k) => same(k, kind))) kinds.push(kind);
  }
  const nullable = alternatives.some((one) => typesOf(one).includes("null"));
  return { kinds: kinds.length > 0 ? kinds : ANYTHING, nullable, schema };
}

/** The kinds of a field that accepts any JSON. */
export const ANYTHING: Kind[] = [
  { is: "text" },
  { is: "number", whole: false },
  { is: "yesno" },
  { is: "map", values: {} },
  { is: "list", items: {} },
];

/** Return the properties of an object's schema, the required ones first. */
export function propertiesOf(raw: JsonObject, root: JsonObject): Property[] {
  const schema = resolved(raw, root);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const all = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const found = all
    .filter((pair): pair is [string, JsonObject] => isObject(pair[1]))
    .map(([key, one]) => ({ key, schema: one, required: required.includes(key) }));
  return [...found.filter((one) => one.required), ...found.filter((one) => !one.required)];
}

function alternativesOf(schema: JsonObject, root: JsonObject): JsonObject[] {
  const given = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(given)) return [schema];
  return given.filter(isObject).flatMap((one) => alternativesOf(resolved(one, root), root));
}

function typesOf(schema: JsonObject): string[] {
  if (typeof schema.type === "string") return [schema.type];
  return Array.isArray(schema.type) ? schema.type.map(String) : [];
}

function kindsOf(schema: JsonObject, root: JsonObject): Kind[] {
  if (Array.isArray(schema.enum)) {
    const options = schema.enum.filter((option) => option !== null);
    return [{ is: "choice", options }];
  }
  if (schema.const !== undefined) return [{ is: "choice", options: [schema.const] }];
  const types = typesOf(schema);
  if (types.length === 0) return isObject(schema.properties) ? [objectOf(schema, root)] : ANYTHING;
  return types.flatMap((type) => kindOf(type, schema, root));
}

function kindOf(type: string, schema: JsonObject, root: JsonObject): Kind[] {
  if (type === "string") return [{ is: "text" }];
  if (type === "number" || type === "integer") return [{ is: "number", whole: type === "integer" }];
  if (type === "boolean") return [{ is: "yesno" }];
  if (type === "array") return [{ is: "list", items: isObject(schema.items) ? schema.items : {} }];
  return type === "object" ? [objectOf(schema, root)] : [];
}

function objectOf(schema: JsonObject, root: JsonObject): Kind {
  if (isObject(schema.properties) && Object.keys(schema.properties).length > 0) {
    return { is: "object", properties: propertiesOf(schema, root) };
  }
  const patterns = isObject(schema.patternProperties)
    ? Object.values(schema.patternProperties)
    : [];
  const values = [schema.additionalProperties, ...patterns].find(isObject);
  return { is: "map", values: values ?? {} };
}

/** Whether two kinds need the same field; whole and other numbers do. */
function same(one: Kind, other: Kind): boolean {
  if (one.is !== other.is) return false;
  if (one.is === "number" || one.is === "text" || one.is === "yesno") return true;
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a kind of field can show this value. */
export function fits(kind: Kind, value: Json): boolean {
  switch (kind.is) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "yesno":
      return typeof value === "boolean";
    case "choice":
      return kind.options.includes(value);
    case "list":
      return Array.isArray(value);
    default:
      return isObject(value);
  }
}

/** Return the kind for a value: a matching choice, else the first match; the first for no value. */
export function kindFor(kinds: readonly Kind[], value: Json | undefined): Kind | undefined {
  if (value === undefined || value === null) return kinds[0];
  const fitting = kinds.filter((kind) => fits(kind, value));
  return fitting.find((kind) => kind.is === "choice") ?? fitting[0];
}

/** Return the initial value of a kind. */
export function emptyOf(kind: Kind): Json | undefined {
  if (kind.is === "text") return "";
  if (kind.is === "yesno") return false;
  if (kind.is === "list") return [];
  if (kind.is === "map" || kind.is === "object") return {};
  return kind.is === "choice" ? kind.options[0] : undefined;
}

/** Return the name of a kind. */
export function wordOf(kind: Kind): string {
  const words = {
    text: t("forms.text"),
    number: t("forms.number"),
    yesno: t("forms.yesOr"),
    choice: t("forms.choice"),
    list: t("forms.list"),
    map: t("forms.fields"),
    object: t("forms.fields"),
  };
  return words[kind.is];
}
