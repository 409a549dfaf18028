import { useEffect } from "react";
import { useStudio } from "../store/studio";
import { bindingOf, chordOf } from "./bindings";
import { useLetters } from "./letters";
import { typing } from "./typing";

export { typing };

/** Handle the shortcuts of the whole page, after fields, lists and menus handled their own keys. */
export function useShortcuts(): void {
  useEffect(() => {
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") leave(event);
  else obey(event, chordOf(event));
}

function obey(event: KeyboardEvent, chord: string): void {
  const binding = bindingOf(chord);
  if (!binding?.run || (typing(event) && !binding.always)) return;
  if (chord.length === 1 && !useLetters.getState().on) return;
  if (binding.onCanvas && !onCanvas(event.target)) return;
  if (chord === "Ctrl+F" && useStudio.getState().view === "yaml") return;
  event.preventDefault();
  binding.run();
}

/**
 * On Escape, leave the field, or clear the selection. Drawers and lists handle Escape themselves.
 */
function leave(event: KeyboardEvent): void {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return;
  if (target.closest(".drawer, [role=menu], [role=listbox]")) return;
  if (typing(event)) target.blur();
  else deselect();
}

function deselect(): void {
  const { selection, select } = useStudio.getState();
  const { tasks, edges, notes } = selection;
  if (tasks.length + edges.length + notes.length > 0) select({});
}

const onCanvas = (target: EventTarget | null): boolean =>
  target === document.body ||
  (target instanceof Element &&
    target.closest("section.canvas") !== null &&
    target.closest("button") === null);
