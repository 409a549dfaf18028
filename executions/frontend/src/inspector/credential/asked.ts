/** The form for a new credential, and the request that it sends. Pure. */
import type { ModuleType, Problem } from "../../api/shapes";
import type { Json } from "../../document/types";
import type { CredentialType } from "../../store/studio";

/** A field that the user names, for a type without fixed fields. */
export interface OwnField {
  name: string;
  value: string;
}

type Taker = Pick<ModuleType, "type" | "credential">;

/**
 * Return the credential types that a module can use: first those that it names, then the others.
 */
export function offeredTypes(all: readonly CredentialType[], module: Taker): CredentialType[] {
  const named = all.filter((one) => module.credential.includes(one.name));
  const others = all.filter((one) => one.modules.some((pattern) => matches(pattern, module.type)));
  return [...new Set([...named, ...others])];
}

/** Whether a pattern such as `file.*` or `*` matches a module type. */
const matches = (pattern: string, type: string): boolean =>
  pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/** Return the host of a task's URL if it is written without templates; "" otherwise. */
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

/** Return the values to send, without empty ones. */
export function valuesOf(
  values: Readonly<Record<string, string>>,
  own: readonly OwnField[],
): Record<string, string> {
  const all = [...Object.entries(values), ...own.map((one) => [one.name.trim(), one.value])];
  return Object.fromEntries(all.filter(([name, value]) => name !== "" && value !== ""));
}

/** Split a text into hosts, which are separated by spaces, commas or line breaks. */
export const hostsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Return the server's problems with a field, including those with single hosts. */
export const wrongIn = (problems: readonly Problem[], path: string): string[] =>
  problems
    .filter((one) => one.path === path || one.path.startsWith(`${path}[`))
    .map((one) => one.message);
