/** What a new credential is asked for, and what is sent. Pure. */
import type { ModuleType, Problem } from "../../api/shapes";
import type { Json } from "../../document/types";
import type { CredentialType } from "../../store/studio";

/** A field of one's own, where the type has none. */
export interface OwnField {
  name: string;
  value: string;
}

type Taker = Pick<ModuleType, "type" | "credential">;

/** The types whose credentials a module can use: first those that it names, then the others. */
export function offeredTypes(all: readonly CredentialType[], module: Taker): CredentialType[] {
  const named = all.filter((one) => module.credential.includes(one.name));
  const others = all.filter((one) => one.modules.some((pattern) => matches(pattern, module.type)));
  return [...new Set([...named, ...others])];
}

/** Whether a pattern such as `file.*` or `*` means a module. */
const matches = (pattern: string, type: string): boolean =>
  pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

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
