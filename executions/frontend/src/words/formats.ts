/** Dates, numbers and lists as the page's language writes them. */
import { spoken } from "./language";

export const numberText = (value: number): string => value.toLocaleString(spoken.locale);

export const dateText = (time: Date): string => time.toLocaleDateString(spoken.locale);

export const timeText = (time: Date, options?: Intl.DateTimeFormatOptions): string =>
  time.toLocaleTimeString(spoken.locale, options);

export const momentText = (time: Date): string => time.toLocaleString(spoken.locale);

/** "Mon, Nov 30, 08:00 CET": in a time zone; in that of the page where it knows none of the name. */
export function zonedText(time: Date, zone: string): string {
  const options: Intl.DateTimeFormatOptions = {
    weekday: "short",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  };
  try {
    return time.toLocaleString(spoken.locale, { ...options, timeZone: zone });
  } catch {
    return time.toLocaleString(spoken.locale, options);
  }
}

/** "3 minutes ago"; negative numbers are past. */
export const distanceText = (value: number, unit: Intl.RelativeTimeFormatUnit): string =>
  new Intl.RelativeTimeFormat(spoken.locale, { numeric: "auto" }).format(value, unit);

const decimals = new Map<string, Intl.NumberFormat>();

/** A number with its unit, written in full: "1 minute", "2.41 seconds". */
export function unitText(value: number, unit: string, places = 0): string {
  const format = new Intl.NumberFormat(spoken.locale, {
    style: "unit",
    unit,
    unitDisplay: "long",
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  });
  return format.format(value);
}

/** A number with as many places as are wanted: "2.41", "2,41". */
export function decimalText(value: number, places: number): string {
  const key = `${spoken.locale} ${places}`;
  const known = decimals.get(key);
  if (known) return known.format(value);
  const made = new Intl.NumberFormat(spoken.locale, {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
    useGrouping: false,
  });
  decimals.set(key, made);
  return made.format(value);
}
