import { insertPath } from "../../forms/targets";
import { announce } from "../../shared/announce";
import { t } from "../../words/t";

/** Put a text on the clipboard, and say so. */
export function copyText(text: string, sentence: string): void {
  const refused = (): void => announce(t("inspector.theBrowserDoesNotLet"));
  // Outside of HTTPS and localhost there is no clipboard.
  if (!navigator.clipboard) refused();
  else navigator.clipboard.writeText(text).then(() => announce(sentence), refused);
}

/** Write a path into the template field used last; onto the clipboard where there is none. */
export function takePath(path: string): void {
  if (insertPath(path)) announce(t("inspector.inserted", { path }));
  else copyText(`{{ ${path} }}`, t("inspector.copied", { name: path }));
}
