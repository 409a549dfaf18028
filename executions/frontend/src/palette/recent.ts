/** The module types that were last used in this browser, newest first. */
import { browserStorage } from "../shared/storage";

const KEY = "studioRecentModules";
const KEPT = 5;

export function recent(): string[] {
  const kept = browserStorage.readJson(KEY);
  return Array.isArray(kept) ? kept.map(String).slice(0, KEPT) : [];
}

/** Add a module type that was just used; return the new list. */
export function remember(type: string): string[] {
  const next = [type, ...recent().filter((one) => one !== type)].slice(0, KEPT);
  browserStorage.write(KEY, JSON.stringify(next));
  return next;
}
