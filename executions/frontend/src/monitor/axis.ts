/** The time axis: its visible range and its ticks. Pure. */
import { decimalText } from "../words/formats";
import { t } from "../words/t";

/** A time range, in milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

const DAY = 864e5;
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  1e3,
  2e3,
  5e3,
  1e4,
  1.5e4,
  3e4,
  6e4,
  12e4,
  3e5,
  6e5,
  9e5,
  18e5,
  36e5,
  72e5,
  216e5,
  432e5,
  DAY,
];
const LEAST_SPAN = 5;

/** Return the ticks of a range, about one per 90 pixels, labelled with the time since `start`. */
export function ticks(view: Span, start: number, width: number): { at: number; label: string }[] {
  const wanted = Math.max(2, width / 90);
  const span = view.to - view.from;
  const step = STEPS.find((size) => span / size <= wanted) ?? Math.ceil(span / wanted / DAY) * DAY;
  const first = Math.ceil((view.from - start) / step) * step;
  const found: { at: number; label: string }[] = [];
  for (let offset = first; offset <= view.to - start; offset += step) {
    found.push({ at: start + offset, label: offsetText(offset, step) });
  }
  return found;
}

/** Format the time since the execution's start: "+1.5 s", "+2:05", "+1 h 02 min". */
export function offsetText(offset: number, step = 1): string {
  const sign = offset < 0 ? "−" : "+";
  const ms = Math.abs(offset);
  if (ms < 1000 && step < 1000) return sign + t("shared.milliseconds", { value: ms });
  if (ms < 60_000) {
    const value = step < 1000 ? fraction(ms, step) : Math.round(ms / 1000);
    return sign + t("shared.seconds", { value });
  }
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days) return sign + t("shared.daysHours", { days, hours });
  if (hours) {
    return sign + t("shared.hoursMinutes", { hours, minutes: String(minutes).padStart(2, "0") });
  }
  const rest = step < 1000 ? `.${String(ms % 1000).padStart(3, "0")}` : "";
  return `${sign}${minutes}:${String(seconds % 60).padStart(2, "0")}${rest}`;
}

const fraction = (ms: number, step: number): string =>
  decimalText(ms / 1000, step < 10 ? 3 : step < 100 ? 2 : 1);

/** Zoom a range by a factor around a point of it; 0 is its left end, 1 its right end. */
export function zoomed(view: Span, factor: number, point = 0.5): Span {
  const span = Math.max(LEAST_SPAN, (view.to - view.from) / factor);
  const anchor = view.from + (view.to - view.from) * point;
  return { from: anchor - span * point, to: anchor + span * (1 - point) };
}

/** Move a range by a share of its length. */
export function moved(view: Span, share: number): Span {
  const by = (view.to - view.from) * share;
  return { from: view.from + by, to: view.to + by };
}

/** Return the whole range, with some free space at the right end. */
export const whole = (start: number, end: number): Span => ({
  from: start,
  to: Math.max(end, start + LEAST_SPAN) + Math.max(1, (end - start) * 0.02),
});
