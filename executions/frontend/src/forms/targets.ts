/** The template field that was used last: where a value clicked elsewhere goes. */
type Insert = (path: string) => void;

let last: { field: HTMLElement; insert: Insert } | null = null;

/** Remember the field that has the focus now. */
export function remember(field: HTMLElement, insert: Insert): void {
  last = { field, insert };
}

/** Write a path into the field used last; false where none is on the page any more. */
export function insertPath(path: string): boolean {
  if (!last?.field.isConnected) return false;
  last.insert(path);
  return true;
}
