/** Formats dates, numbers and units in the language of the page. */
import { spoken } from "./language";

export const numberText = (value: number): string => value.toLocaleString(spoken.locale);

export const dateText = (time: Date): string => time.toLocaleDateString(spoken.locale);

export const timeText = (time: Date, options?: Intl.DateTimeFormatOptions): string =>
  time.toLocaleTimeString(spoken.locale, options);

export const momentText = (time: Date): string => time.toLocaleString(spoken.locale);

/**
 * Format a time in a time zone: "Mon, Nov 30, 08:00 CET". The browser's zone is used if the name is
 * unknown.
 */
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

/** Format a distance in time: "3 minutes ago"; negative numbers are in the past. */
export const distanceText = (value: number, unit: Intl.RelativeTimeFormatUnit): string =>
  new Intl.RelativeTimeFormat(spoken.locale, { numeric: "auto" }).format(value, unit);

const decimals = new Map<string, Intl.NumberFormat>();

/** Format a number with its complete unit: "1 minute", "2.41 seconds". */
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

/** Format a number with a fixed number of decimal places: "2.41", "2,41". */
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
