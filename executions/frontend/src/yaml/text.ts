/** The text of the YAML view and the document it belongs to; both outlive the view. */
import { create } from "zustand";
import { arranged } from "../document/layout";
import { bodyAt } from "../document/paths";
import { read } from "../document/reading";
import { shared } from "../document/sharing";
import type { Definition, TaskPath } from "../document/types";
import type { Pointer } from "../problems/found";
import { useStudio } from "../store/studio";
import { parsed, type TextMistake } from "./parsing";
import { asYaml } from "./writing";

interface YamlText {
  text: string;
  /** The document from which the text was written, or to which it was last applied. */
  source: Definition | null;
  mistakes: readonly TextMistake[];
}

export const useYamlText = create<YamlText>()(() => ({ text: "", source: null, mistakes: [] }));

/** Rewrite the text if the document was changed elsewhere; otherwise, keep the typed text. */
export function followDocument(document: Definition): void {
  if (useYamlText.getState().source === document) return;
  useYamlText.setState({ text: asYaml(document), source: document, mistakes: [] });
}

/** Apply the text to the document if it is valid; a text with the same meaning changes nothing. */
export function applyText(): void {
  const { text, source } = useYamlText.getState();
  const { history, edit } = useStudio.getState();
  if (source !== history.present) return; // changed elsewhere: the text is outdated
  const found = parsed(text);
  if (!found.ok) {
    useYamlText.setState({ mistakes: found.mistakes });
    return;
  }
  const made = arranged(read(found.document, history.present.name));
  edit((document) => shared(document, made), "yaml");
  useYamlText.setState({ source: useStudio.getState().history.present, mistakes: [] });
}

/** Return a task's position in the document as keys: `["tasks", 2, "body", "tasks", 0]`. */
export function pointerOf(document: Definition, path: TaskPath): Pointer {
  const ids = path.split(".");
  return ids.flatMap((id, depth) => {
    const body = bodyAt(document, ids.slice(0, depth));
    const index = body?.tasks.findIndex((task) => task.id === id) ?? -1;
    return depth === 0 ? ["tasks", index] : ["body", "tasks", index];
  });
}
