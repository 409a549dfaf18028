import { useEffect } from "react";
import { isText } from "../keys/typing";
import { copySelected, paste, removeSelected } from "./commands";

/**
 * Copy, cut and paste tasks as JSON with the browser's clipboard events. These events need no
 * permission, and work between windows and with text editors. Events from text fields or dialogs,
 * and copies of selected text, keep their default behaviour.
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

/** Whether the event does not copy tasks: from a text field, selected text or a dialog. */
const keptOut = (event: ClipboardEvent): boolean =>
  isText(event.target) || (getSelection()?.toString() ?? "") !== "" || modal();

const modal = (): boolean => document.querySelector("dialog[open]") !== null;
