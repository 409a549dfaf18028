/** Common schedules in words. Pure. */
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

/** "Every Monday at 08:00"; null where the five fields say something less common. */
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
    if (step !== undefined) return t("inspector.everyMinutes", { count: Number(step) });
    return /^\d{1,2}$/.test(minute)
      ? t("inspector.everyHourAtMinute", { minute: Number(minute) })
      : null;
  }
  const step = /^\*\/(\d{1,2})$/.exec(hour)?.[1];
  if (step === undefined || !/^\d{1,2}$/.test(minute)) return null;
  return t("inspector.everyHoursAtMinute", { count: Number(step), minute: Number(minute) });
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
