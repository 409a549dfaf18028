/** The names that a template can use, as a tree whose branches are built on demand. */
import type { Json, JsonObject } from "../document/types";
import { t } from "../words/t";
import { cutReason } from "./cut";
import { follow, type Step } from "./path";

export interface Name {
  step: Step;
  /** A short description. */
  about: string;
  /** The value in the displayed execution, if it is known. */
  value?: Json | undefined;
  children?: (() => Name[]) | undefined;
}

const MOST = 200;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Return a name whose children come from its value and from its schema. */
export function nameOf(
  step: Step,
  about: string,
  seen: Json | undefined,
  schema?: JsonObject | null,
): Name {
  const value = cutReason(seen) === "" ? seen : undefined;
  const below = (): Name[] => parts(value, schema ?? null);
  const has = isObject(value) || Array.isArray(value) || isObject(schema?.properties);
  return { step, about, value, children: has ? below : undefined };
}

function parts(value: Json | undefined, schema: JsonObject | null): Name[] {
  if (Array.isArray(value)) {
    return value.slice(0, 20).map((item, at) => nameOf(at, kindWord(item), item));
  }
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const own = isObject(value) ? value : {};
  const keys = [...new Set([...Object.keys(own), ...Object.keys(properties)])].slice(0, MOST);
  return keys.map((key) => {
    const said = properties[key];
    const part = isObject(said) ? said : null;
    return nameOf(key, aboutOf(part, own[key]), own[key], part);
  });
}

function aboutOf(schema: JsonObject | null, value: Json | undefined): string {
  if (typeof schema?.description === "string") return schema.description;
  if (value !== undefined) return kindWord(value);
  return typeof schema?.type === "string" ? schema.type : "";
}

/** Return a value's type, for display. */
export function kindWord(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return t("expressions.listOf", { count: value.length });
  return typeof value;
}

/** Return the name at the end of a path, or undefined. */
export function find(names: readonly Name[], steps: readonly Step[]): Name | undefined {
  let level: readonly Name[] = names;
  let found: Name | undefined;
  for (const step of steps) {
    found = level.find((one) => one.step === step);
    if (!found) return undefined;
    level = found.children?.() ?? [];
  }
  return found;
}

/** Return the value at a path in the displayed execution; undefined if it is unknown. */
export function known(names: readonly Name[], steps: readonly Step[]): Json | undefined {
  for (let length = steps.length; length > 0; length -= 1) {
    const name = find(names, steps.slice(0, length));
    if (name) return follow(name.value, steps.slice(length));
  }
  return undefined;
}

/** Format a value on one short line. */
export function brief(value: Json | undefined, most = 60): string {
  if (value === undefined) return "";
  const text = JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
