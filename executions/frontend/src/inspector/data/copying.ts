import { insertPath } from "../../forms/targets";
import { announce } from "../../shared/announce";

/** Put a text on the clipboard, and say so. */
export function copyText(text: string, sentence: string): void {
  const refused = (): void => announce("The browser does not let this page use the clipboard");
  // Outside of HTTPS and localhost there is no clipboard.
  if (!navigator.clipboard) refused();
  else navigator.clipboard.writeText(text).then(() => announce(sentence), refused);
}

/** Write a path into the template field used last; onto the clipboard where there is none. */
export function takePath(path: string): void {
  if (insertPath(path)) announce(`Inserted ${path}`);
  else copyText(`{{ ${path} }}`, `Copied ${path}`);
}
