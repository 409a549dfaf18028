/** The browser's storage. If it is blocked or full, nothing is stored, and the page still works. */

/** `of` returns the storage: where a browser blocks it, even reading the global object fails. */
const guarded = (of: () => Storage) => ({
  /** Return the stored text; null if there is none. */
  read: (key: string): string | null => tried(() => of().getItem(key), null),
  /** Return the stored JSON value; null if there is none, or if it is unreadable. */
  readJson: (key: string): unknown => tried(() => JSON.parse(of().getItem(key) ?? "null"), null),
  /** Store a text; return whether it was stored. */
  write: (key: string, text: string): boolean =>
    tried(() => {
      of().setItem(key, text);
      return true;
    }, false),
  remove: (key: string): void => tried(() => of().removeItem(key), undefined),
});

function tried<T>(act: () => T, otherwise: T): T {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

/** Shared by all tabs, and kept after they are closed. */
export const browserStorage = guarded(() => localStorage);

/** The tab's own, kept until it is closed. */
export const tabStorage = guarded(() => sessionStorage);
