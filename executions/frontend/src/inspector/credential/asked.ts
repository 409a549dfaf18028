/** What a new credential is asked for, and what is sent. Pure. */
import type { Problem } from "../../api/shapes";
import type { Json } from "../../document/types";
import type { CredentialType } from "../../store/studio";

/** A field of one's own, where the type has none. */
export interface OwnField {
  name: string;
  value: string;
}

/** The types that a module takes, those that are installed; all where it takes any. */
export const offeredTypes = (
  all: readonly CredentialType[],
  taken: readonly string[],
): CredentialType[] => all.filter((one) => taken.length === 0 || taken.includes(one.name));

/** The host of a task's own address, where that is written out; "" otherwise. */
export function hostOf(task: Json): string {
  const given = partOf(task, "with");
  const address = partOf(given, "url");
  if (typeof address !== "string") return "";
  return /^[a-z]+:\/\/(?:[^/@{}]*@)?([^/:?#{}]+)(?::\d+)?(?:[/?#]|$)/i.exec(address)?.[1] ?? "";
}

function partOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value[key];
}

/** The values to send: what was left empty is not there. */
export function valuesOf(
  values: Readonly<Record<string, string>>,
  own: readonly OwnField[],
): Record<string, string> {
  const all = [...Object.entries(values), ...own.map((one) => [one.name.trim(), one.value])];
  return Object.fromEntries(all.filter(([name, value]) => name !== "" && value !== ""));
}

/** The hosts that were typed, apart by spaces, commas or lines. */
export const hostsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** What is wrong with one part, by the server: of `hosts` also what is said of one host. */
export const wrongIn = (problems: readonly Problem[], path: string): string[] =>
  problems
    .filter((one) => one.path === path || one.path.startsWith(`${path}[`))
    .map((one) => one.message);
