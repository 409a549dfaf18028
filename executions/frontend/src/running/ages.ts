/** Times as people say them. Pure. */

const UNITS: readonly [limit: number, seconds: number, word: string][] = [
  [90, 1, "s"],
  [90 * 60, 60, "min"],
  [36 * 3600, 3600, "h"],
  [Number.POSITIVE_INFINITY, 86_400, "days"],
];

/** "3 min ago"; `now` in milliseconds. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 10) return "just now";
  const [, unit, word] = UNITS.find(([limit]) => seconds < limit) ?? [0, 1, "s"];
  return `${Math.round(seconds / unit)} ${word} ago`;
}

/** "14:03:10", with the day where it is not today's. */
export function clock(time: string, now = new Date()): string {
  const at = new Date(time);
  const hour = at.toLocaleTimeString();
  return at.toDateString() === now.toDateString() ? hour : `${at.toLocaleDateString()} ${hour}`;
}

/** "0.8 s", "12 s", "3 min 4 s", "2 h 5 min". */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
