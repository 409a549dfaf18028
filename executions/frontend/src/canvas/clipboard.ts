import { useEffect } from "react";
import { isText } from "../keys/typing";
import { copySelected, paste, removeSelected } from "./commands";

/**
 * Copy, cut and paste tasks as JSON through the browser's own clipboard events: no permission is
 * asked for, other windows and editors can take part, and fields and marked text stay as they are.
 */
export function useClipboard(): void {
  useEffect(() => {
    const copy = (event: ClipboardEvent): void => {
      if (keptOut(event)) return;
      const text = copySelected();
      if (text === null) return;
      event.clipboardData?.setData("text/plain", text);
      event.preventDefault();
      if (event.type === "cut") removeSelected();
    };
    const pasteInto = (event: ClipboardEvent): void => {
      if (isText(event.target) || modal()) return;
      if (paste(event.clipboardData?.getData("text/plain") ?? "")) event.preventDefault();
    };
    addEventListener("copy", copy);
    addEventListener("cut", copy);
    addEventListener("paste", pasteInto);
    return () => {
      removeEventListener("copy", copy);
      removeEventListener("cut", copy);
      removeEventListener("paste", pasteInto);
    };
  }, []);
}

/** Whether a copy is none of tasks: from a field, of marked text, or in a dialog. */
const keptOut = (event: ClipboardEvent): boolean =>
  isText(event.target) || (getSelection()?.toString() ?? "") !== "" || modal();

const modal = (): boolean => document.querySelector("dialog[open]") !== null;
