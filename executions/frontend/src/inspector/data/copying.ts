import { insertPath } from "../../forms/targets";
import { announce } from "../../shared/announce";
import { t } from "../../words/t";

/** Copy a text to the clipboard, and announce it. */
export function copyText(text: string, sentence: string): void {
  const refused = (): void => announce(t("inspector.theBrowserDoesNotLet"));
  // Browsers provide the clipboard only with HTTPS or on localhost.
  if (!navigator.clipboard) refused();
  else navigator.clipboard.writeText(text).then(() => announce(sentence), refused);
}

/** Insert a path into the template field used last; without such a field, copy it. */
export function takePath(path: string): void {
  if (insertPath(path)) announce(t("inspector.inserted", { path }));
  else copyText(`{{ ${path} }}`, t("inspector.copied", { name: path }));
}
