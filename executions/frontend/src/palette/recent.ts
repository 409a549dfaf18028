/** The module types last used in this browser, the newest first. */

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

/** With one used now. */
export function remember(type: string): string[] {
  const next = [type, ...recent().filter((one) => one !== type)].slice(0, KEPT);
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Full or forbidden storage: the list is a convenience.
  }
  return next;
}
