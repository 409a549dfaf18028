/** Return an id that is not taken: the wanted one, or the wanted one with the first free number. */
export function freeId(wanted: string, taken: readonly { id: string }[]): string {
  const ids = new Set(taken.map((one) => one.id));
  const base = slugOf(wanted);
  if (!ids.has(base)) return base;
  const stem = base.replace(/_\d+$/, "");
  for (let number = 2; ; number += 1) {
    const id = `${stem}_${number}`;
    if (!ids.has(id)) return id;
  }
}

/**
 * Convert a text to an id: letters, digits, `_` and `-`, at most 100; `task` if nothing remains.
 */
export function slugOf(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "");
  const slug = plain
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^[_-]+|_+$/g, "")
    .slice(0, 100);
  return slug === "" ? "task" : slug;
}
