/** Common schedules in words. Pure. */

const DAYS = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
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
  return time === null || days === null ? null : `${days} at ${time}`;
}

function everyPart(minute: string, hour: string): string | null {
  if (hour === "*") {
    if (minute === "*") return "Every minute";
    const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
    if (step !== undefined) return `Every ${Number(step)} minutes`;
    return /^\d{1,2}$/.test(minute) ? `Every hour at minute ${Number(minute)}` : null;
  }
  const step = /^\*\/(\d{1,2})$/.exec(hour)?.[1];
  if (step === undefined || !/^\d{1,2}$/.test(minute)) return null;
  return `Every ${Number(step)} hours at minute ${Number(minute)}`;
}

function timeOf(minute: string, hour: string): string | null {
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour)) return null;
  return `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}

function daysOf(day: string, weekday: string): string | null {
  if (day === "*" && weekday === "*") return "Every day";
  if (day === "*") {
    const plain = weekday.toLowerCase();
    if (["1-5", "mon-fri"].includes(plain)) return "Every working day";
    const number = /^[0-7]$/.test(plain) ? Number(plain) : NAMES.indexOf(plain);
    return number < 0 ? null : `Every ${DAYS[number]}`;
  }
  return weekday === "*" && /^\d{1,2}$/.test(day) ? `Every month on day ${Number(day)}` : null;
}
