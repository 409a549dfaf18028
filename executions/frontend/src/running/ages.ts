/** Formats times and durations. Pure. */
import { dateText, decimalText, timeText } from "../words/formats";
import { t } from "../words/t";

const UNITS = [
  [90, 1, "shared.seconds"],
  [90 * 60, 60, "shared.minutes"],
  [36 * 3600, 3600, "shared.hours"],
] as const;

/** Format how long ago a time was: "3 min ago"; `now` is in milliseconds. */
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 10) return t("shared.justNow");
  const [, unit, words] = UNITS.find(([limit]) => seconds < limit) ?? [0, 86_400, "running.days"];
  return t("shared.ago", { time: t(words, { value: Math.round(seconds / unit) }) });
}

/** Format a time: "14:03:10", with the date if it is not today. */
export function clock(time: string, now = new Date()): string {
  const at = new Date(time);
  const hour = timeText(at);
  return at.toDateString() === now.toDateString() ? hour : `${dateText(at)} ${hour}`;
}

/** Format a duration: "0.8 s", "12 s", "3 min 4 s", "2 h 5 min". */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return t("shared.seconds", { value: decimalText(seconds, 1) });
  if (seconds < 60) return t("shared.seconds", { value: Math.floor(seconds) });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60)
    return t("shared.minutesSeconds", { minutes, seconds: Math.floor(seconds % 60) });
  return t("shared.hoursMinutes", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}
