/** Times and lengths of time in words. Times are milliseconds since 1970, lengths milliseconds. */

const NO_BREAK = "\u00a0";

/** An RFC 3339 time as milliseconds, or null. */
export const at = (text: string | null | undefined): number | null =>
  text ? Date.parse(text) : null;

/** A length with its unit: "340 ms", "2.41 s", "3 min 20 s", "5 h 12 min", "3 d 4 h". */
export function took(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return "–";
  return worded(Math.max(0, ms)).replaceAll(" ", NO_BREAK);
}

function worded(ms: number): string {
  if (ms < 1000) return ms >= 10 || ms === 0 ? `${Math.round(ms)} ms` : `${ms.toFixed(2)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(2)} s`;
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds / 3600) % 24);
  const minutes = Math.floor((seconds / 60) % 60);
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return `${minutes} min ${Math.floor(seconds % 60)} s`;
}

/** A length as it is read aloud: "1.10 seconds", "3 minutes 20 seconds". */
export const spoken = (ms: number | null): string =>
  took(ms)
    .replaceAll(NO_BREAK, " ")
    .replace(/ ms$/, " milliseconds")
    .replace(/ s$/, " seconds")
    .replace(/ min/, " minutes")
    .replace(/ h/, " hours")
    .replace(/ d/, " days");

/** How long ago, or until: "12 s ago", "in 3 min". */
export function ago(time: number, now: number): string {
  const distance = now - time;
  const text = span(Math.abs(distance));
  return distance >= 0 ? `${text} ago` : `in ${text}`;
}

const UNITS: readonly [seconds: number, unit: string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** A length in its largest sensible unit. */
export function span(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  for (const [size, unit] of UNITS) {
    if (seconds >= size * 2 || (seconds >= size && unit !== "d")) {
      return `${Math.floor(seconds / size)} ${unit}`;
    }
  }
  return `${seconds} s`;
}

/** The whole time, in UTC. */
export const stamp = (time: number): string =>
  `${new Date(time).toISOString().replace("T", " ").slice(0, 23)} UTC`;
