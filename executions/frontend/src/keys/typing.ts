/** Input types without text, in which shortcuts work. */
const NO_TEXT = new Set([
  "button",
  "checkbox",
  "radio",
  "range",
  "color",
  "file",
  "submit",
  "reset",
]);

/** Whether keys pressed on this element are typed into a text. */
export function isText(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !NO_TEXT.has(target.type);
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

/** Whether the key is typed into a text field. */
export const typing = (event: KeyboardEvent): boolean => isText(event.target);
