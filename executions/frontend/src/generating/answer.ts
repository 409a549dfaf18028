/** Converts a language model's answer to a draft. Pure. */
import { read } from "../document/reading";
import type { Definition } from "../document/types";
import { t } from "../words/t";
import { parsed } from "../yaml/parsing";

/** Return the draft, or the error. Models often put YAML into a fenced code block. */
export function draftOf(answer: string, name: string): Definition | string {
  const fenced = /```(?:ya?ml|json)?[ \t]*\n([\s\S]*?)\n?```/.exec(answer);
  const found = parsed(fenced?.[1] ?? answer);
  if (!found.ok) return found.mistakes[0].message;
  const draft = read(found.document, name);
  if (draft.tasks.length === 0) return t("yaml.isRequired", { key: "tasks" });
  return { ...draft, name };
}
