import { distanceText } from "../words/formats";
import { t } from "../words/t";

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Format how long ago a time is: `3 minutes ago`; `now` is in milliseconds. */
export function relative(instant: string, now: number): string {
  const seconds = (Date.parse(instant) - now) / 1000;
  const [unit, length] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ["second", 1];
  return unit === "second" ? t("shared.justNow") : distanceText(Math.trunc(seconds / length), unit);
}
