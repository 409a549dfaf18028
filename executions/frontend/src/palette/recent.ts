/** The module types that were last used in this browser, newest first. */

const KEY = "studioRecentModules";
const KEPT = 5;

export function recent(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.map(String).slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

/** Add a module type that was just used; return the new list. */
export function remember(type: string): string[] {
  const next = [type, ...recent().filter((one) => one !== type)].slice(0, KEPT);
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // The storage is full or blocked; the list is optional.
  }
  return next;
}
