/** Times and lengths of time in words. Times are milliseconds since 1970, lengths milliseconds. */
import { decimalText } from "../words/formats";
import { t } from "../words/t";

const NO_BREAK = "\u00a0";

/** An RFC 3339 time as milliseconds, or null. */
export const at = (text: string | null | undefined): number | null =>
  text ? Date.parse(text) : null;

/** A length with its unit: "340 ms", "2.41 s", "3 min 20 s", "5 h 12 min", "3 d 4 h". */
export function took(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return "–";
  return worded(Math.max(0, ms), SHORT).replaceAll(" ", NO_BREAK);
}

const SHORT = {
  milliseconds: "shared.milliseconds",
  seconds: "shared.seconds",
  minutes: "shared.minutesSeconds",
  hours: "shared.hoursMinutes",
  days: "shared.daysHours",
} as const;
const LONG = {
  milliseconds: "monitor.spokenMilliseconds",
  seconds: "monitor.spokenSeconds",
  minutes: "monitor.spokenMinutes",
  hours: "monitor.spokenHours",
  days: "monitor.spokenDays",
} as const;

function worded(ms: number, words: typeof SHORT | typeof LONG): string {
  if (ms < 1000) {
    return t(words.milliseconds, { value: decimalText(ms, ms >= 10 || ms === 0 ? 0 : 2) });
  }
  if (ms < 60_000) return t(words.seconds, { value: decimalText(ms / 1000, 2) });
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days) return t(words.days, { days, hours });
  if (hours) return t(words.hours, { hours, minutes });
  return t(words.minutes, { minutes, seconds: seconds % 60 });
}

/** A length as it is read aloud: "1.10 seconds", "3 minutes 20 seconds". */
export const spoken = (ms: number): string => worded(Math.max(0, ms), LONG);

/** How long ago, or until: "12 s ago", "in 3 min". */
export function ago(time: number, now: number): string {
  const distance = now - time;
  const text = span(Math.abs(distance));
  return t(distance >= 0 ? "shared.ago" : "shared.inTime", { time: text });
}

const UNITS = [
  [86_400, "shared.days"],
  [3600, "shared.hours"],
  [60, "shared.minutes"],
] as const;

/** A length in its largest sensible unit. */
export function span(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  for (const [size, unit] of UNITS) {
    if (seconds >= size * 2 || (seconds >= size && size < 86_400)) {
      return t(unit, { value: Math.floor(seconds / size) });
    }
  }
  return t("shared.seconds", { value: seconds });
}

/** The whole time, in UTC. */
export const stamp = (time: number): string =>
  `${new Date(time).toISOString().replace("T", " ").slice(0, 23)} UTC`;
