/** Formats times and durations. Times are milliseconds since 1970, durations are milliseconds. */
import { decimalText, unitText } from "../words/formats";
import { t } from "../words/t";

const NO_BREAK = "\u00a0";

/** Convert an RFC 3339 time to milliseconds; null stays null. */
export const at = (text: string | null | undefined): number | null =>
  text ? Date.parse(text) : null;

/** Format a duration with its unit: "340 ms", "2.41 s", "3 min 20 s", "5 h 12 min", "3 d 4 h". */
export function took(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return "–";
  return short(parted(Math.max(0, ms))).replaceAll(" ", NO_BREAK);
}

/** Format a duration for screen readers: "1.10 seconds", "3 minutes 1 second". */
export const spoken = (ms: number): string =>
  parted(Math.max(0, ms))
    .map(({ unit, value, places }) => unitText(value, unit, places))
    .join(" ");

type Part = { unit: string; value: number; places?: number };

/** Split a duration into one number, or, from a minute on, into two whole numbers. */
function parted(ms: number): [Part] | [Part, Part] {
  if (ms < 1000) {
    return [{ unit: "millisecond", value: ms, places: ms >= 10 || ms === 0 ? 0 : 2 }];
  }
  if (ms < 60_000) return [{ unit: "second", value: ms / 1000, places: 2 }];
  const all = Math.floor(ms / 1000);
  const second = { unit: "second", value: all % 60 };
  const minute = { unit: "minute", value: Math.floor(all / 60) % 60 };
  const hour = { unit: "hour", value: Math.floor(all / 3600) % 24 };
  const day = { unit: "day", value: Math.floor(all / 86_400) };
  if (day.value) return [day, hour];
  return hour.value ? [hour, minute] : [minute, second];
}

function short([first, second]: [Part] | [Part, Part]): string {
  const { unit, value, places = 0 } = first;
  if (unit === "millisecond") {
    return t("shared.milliseconds", { value: decimalText(value, places) });
  }
  if (unit === "second") return t("shared.seconds", { value: decimalText(value, places) });
  const rest = second?.value ?? 0;
  if (unit === "day") return t("shared.daysHours", { days: value, hours: rest });
  if (unit === "hour") return t("shared.hoursMinutes", { hours: value, minutes: rest });
  return t("shared.minutesSeconds", { minutes: value, seconds: rest });
}

/** Format how long ago a time was, or how far ahead it is: "12 s ago", "in 3 min". */
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

/** Format a duration in the largest suitable unit. */
export function span(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  for (const [size, unit] of UNITS) {
    if (seconds >= size * 2 || (seconds >= size && size < 86_400)) {
      return t(unit, { value: Math.floor(seconds / size) });
    }
  }
  return t("shared.seconds", { value: seconds });
}

/** Format the exact time, in UTC. */
export const stamp = (time: number): string =>
  `${new Date(time).toISOString().replace("T", " ").slice(0, 23)} UTC`;
