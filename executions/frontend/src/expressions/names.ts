/** What a template may name, as a tree that is built where somebody looks. */
import type { Json, JsonObject } from "../document/types";
import { t } from "../words/t";
import { cutReason } from "./cut";
import { follow, type Step } from "./path";

export interface Name {
  step: Step;
  /** In a few words, what it is. */
  about: string;
  /** What it was in the last run, where that is known. */
  value?: Json | undefined;
  children?: (() => Name[]) | undefined;
}

const MOST = 200;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A name of this value, with the value's own parts below it; else with what the schema promises. */
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

/** A value's type in a word. */
export function kindWord(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return t("expressions.listOf", { count: value.length });
  return typeof value;
}

/** The name at the end of some steps, or undefined. */
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

/** The value of the last run at some steps; undefined where it is not known. */
export function known(names: readonly Name[], steps: readonly Step[]): Json | undefined {
  for (let length = steps.length; length > 0; length -= 1) {
    const name = find(names, steps.slice(0, length));
    if (name) return follow(name.value, steps.slice(length));
  }
  return undefined;
}

/** A value on one short line. */
export function brief(value: Json | undefined, most = 60): string {
  if (value === undefined) return "";
  const text = JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
