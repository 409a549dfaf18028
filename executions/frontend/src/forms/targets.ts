/** The template field that was used last, into which clicked names are inserted. */
type Insert = (path: string) => void;

let last: { field: HTMLElement; insert: Insert } | null = null;

/** Remember the focused field. */
export function remember(field: HTMLElement, insert: Insert): void {
  last = { field, insert };
}

/** Insert a path into the field used last; return false if it is no longer on the page. */
export function insertPath(path: string): boolean {
  if (!last?.field.isConnected) return false;
  last.insert(path);
  return true;
}
