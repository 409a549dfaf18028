/** Inputs that take no text: keys pressed on them are not typing. */
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

/** Whether keys pressed here go into a text. */
export function isText(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !NO_TEXT.has(target.type);
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

/** Whether the keys go into a field. */
export const typing = (event: KeyboardEvent): boolean => isText(event.target);
