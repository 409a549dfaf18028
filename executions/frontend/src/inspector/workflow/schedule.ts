/** Describes common schedules in words. Pure. */
import { t } from "../../words/t";

const DAYS = [
  t("inspector.sunday"),
  t("inspector.monday"),
  t("inspector.tuesday"),
  t("inspector.wednesday"),
  t("inspector.thursday"),
  t("inspector.friday"),
  t("inspector.saturday"),
  t("inspector.sunday"),
];
const NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Describe a schedule, such as "Every Monday at 08:00"; null if it is not a common one. */
export function inWords(schedule: string): string | null {
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return null;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (month !== "*") return null;
  const every = everyPart(minute, hour);
  if (every !== null) return day === "*" && weekday === "*" ? every : null;
  const time = timeOf(minute, hour);
  const days = daysOf(day, weekday);
  return time === null || days === null ? null : t("inspector.at", { days, time });
}

function everyPart(minute: string, hour: string): string | null {
  if (hour === "*") {
    if (minute === "*") return t("inspector.everyMinute");
    const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
    if (step !== undefined)
      return dividing(step, 60, (count) => t("inspector.everyMinutes", { count }));
    return /^\d{1,2}$/.test(minute)
      ? t("inspector.everyHourAtMinute", { minute: Number(minute) })
      : null;
  }
  const step = /^\*\/(\d{1,2})$/.exec(hour)?.[1];
  if (step === undefined || !/^\d{1,2}$/.test(minute)) return null;
  return dividing(step, 24, (count) =>
    t("inspector.everyHoursAtMinute", { count, minute: Number(minute) }),
  );
}

/** Cron restarts steps with each hour or day, so only a divisor of its length is an interval. */
function dividing(step: string, length: number, say: (count: number) => string): string | null {
  const count = Number(step);
  return count > 0 && length % count === 0 ? say(count) : null;
}

function timeOf(minute: string, hour: string): string | null {
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour)) return null;
  return `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}

function daysOf(day: string, weekday: string): string | null {
  if (day === "*" && weekday === "*") return t("inspector.everyDay");
  if (day === "*") {
    const plain = weekday.toLowerCase();
    if (["1-5", "mon-fri"].includes(plain)) return t("inspector.everyWorkingDay");
    const number = /^[0-7]$/.test(plain) ? Number(plain) : NAMES.indexOf(plain);
    return number < 0 ? null : t("inspector.every", { weekday: DAYS[number] ?? "" });
  }
  return weekday === "*" && /^\d{1,2}$/.test(day)
    ? t("inspector.everyMonthOnDay", { day: Number(day) })
    : null;
}
