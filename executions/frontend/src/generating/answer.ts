/** A language model's answer as a draft. Pure. */
import { read } from "../document/reading";
import type { Definition } from "../document/types";
import { parsed } from "../yaml/parsing";

/** The draft, or why the answer is none; models like to put their YAML between fences. */
export function draftOf(answer: string, name: string): Definition | string {
  const fenced = /```(?:ya?ml|json)?[ \t]*\n([\s\S]*?)\n?```/.exec(answer);
  const found = parsed(fenced?.[1] ?? answer);
  if (!found.ok) return found.mistakes[0].message;
  return { ...read(found.document, name), name };
}
