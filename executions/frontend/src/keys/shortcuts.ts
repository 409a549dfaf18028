import { useEffect } from "react";
import { useStudio } from "../store/studio";

/** The keys of the whole page; a region's own are with the region. */
export function useShortcuts(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey)) return;
      const { undo, redo } = useStudio.getState();
      const key = event.key.toLowerCase();
      if (typing(event) && key !== "s") return;
      if (key === "z") event.shiftKey ? redo() : undo();
      else if (key === "y") redo();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** Whether the keys go into a field. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}
