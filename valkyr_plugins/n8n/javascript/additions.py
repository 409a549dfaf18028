"""Add parts of n8n's JavaScript that QuickJS lacks: `Buffer`, and US English formats.

`Buffer` converts strings between UTF-8, Base64 and other encodings. `toLocaleString` and similar
methods write numbers and dates as in US English, which n8n's programs use unless they name another
locale.
"""

from collections.abc import Sequence

from valkyr_plugins.n8n.javascript.scanning import TEXT, WORD, ProgramToken

BUFFER = """class Buffer {
  constructor(bytes) { this.bytes = bytes; this.length = bytes.length; }
  static from(value, kind = "utf8") {
    const text = value instanceof Buffer ? value.toString() : String(value);
    if (/^utf-?8$/i.test(kind)) {
      return new Buffer(unescape(encodeURIComponent(text.toWellFormed())));
    }
    if (/^base64/i.test(kind)) {
      const usual = text.replace(/-/g, "+").replace(/_/g, "/");
      return new Buffer(atob(usual.replace(/[^A-Za-z0-9+/]/g, "")));
    }
    if (/^hex$/i.test(kind)) {
      return new Buffer((text.match(/[0-9a-f]{2}/gi) ?? [])
        .map((two) => String.fromCharCode(parseInt(two, 16))).join(""));
    }
    return new Buffer(text);
  }
  static isBuffer(value) { return value instanceof Buffer; }
  static byteLength(value, kind) { return Buffer.from(value, kind).length; }
  toString(kind = "utf8") {
    if (/^utf-?8$/i.test(kind)) {
      try { return decodeURIComponent(escape(this.bytes)); } catch { return this.bytes; }
    }
    if (/^base64url$/i.test(kind)) {
      return btoa(this.bytes).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
    }
    if (/^base64$/i.test(kind)) return btoa(this.bytes);
    if (/^hex$/i.test(kind)) {
      return [...this.bytes].map((one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join("");
    }
    return this.bytes;
  }
}
"""
ENGLISH = """const names = (words) => words.split(" ");
const MONTHS = names("January February March April May June July August September October "
  + "November December");
const DAYS = names("Sunday Monday Tuesday Wednesday Thursday Friday Saturday");
const two = (number) => String(number).padStart(2, "0");
const inEnglish = (value, { minimumFractionDigits: least, maximumFractionDigits: most } = {}) => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value < 0 ? "-∞" : "∞";
  const low = least ?? 0, high = Math.max(most ?? 3, low), size = String(Math.abs(value));
  const near = size.includes("e") ? Math.abs(value)
    : Number(`${Math.round(`${size}e${high}`)}e-${high}`);
  const [whole, part = ""] = near.toFixed(high).split(".");
  const kept = part.slice(0, low) + part.slice(low).replace(/0+$/, "");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return sign + whole.replace(/\\B(?=(\\d{3})+$)/g, ",") + (kept ? `.${kept}` : "");
};
const dateInEnglish = (date, { weekday, year, month, day }) => {
  const named = weekday && DAYS[date.getDay()].slice(0, weekday === "short" ? 3 : 9);
  const y = year && (year === "2-digit" ? two(date.getFullYear() % 100) : date.getFullYear());
  const d = day && (day === "2-digit" ? two(date.getDate()) : date.getDate());
  let rest;
  if (month === "long" || month === "short") {
    const m = MONTHS[date.getMonth()].slice(0, month === "short" ? 3 : 9);
    rest = [[m, d].filter(Boolean).join(" "), y].filter(Boolean).join(d ? ", " : " ");
  } else {
    const m = month && (month === "2-digit" ? two(date.getMonth() + 1) : date.getMonth() + 1);
    rest = [m, d, y].filter(Boolean).join("/");
  }
  return [named, rest].filter(Boolean).join(", ");
};
const timeInEnglish = (date, { hour, minute, second, hour12 = true }) => {
  const h = hour12 ? date.getHours() % 12 || 12 : date.getHours() || 24;
  const wide = hour === "2-digit" || !hour12;
  const parts = [hour && (wide ? two(h) : h), minute && two(date.getMinutes()),
                 second && two(date.getSeconds())];
  const half = hour && hour12 ? ` ${date.getHours() < 12 ? "AM" : "PM"}` : "";
  return parts.filter((one) => one !== undefined).join(":") + half;
};
const ofDate = (withDate, withTime) => function (_, options = {}) {
  if (Number.isNaN(this.getTime())) return "Invalid Date";
  const has = (...keys) => keys.some((key) => options[key] !== undefined);
  const dated = has("weekday", "year", "month", "day"), timed = has("hour", "minute", "second");
  const bare = !(withDate && dated) && !(withTime && timed);
  const all = { ...options,
    ...(bare && withDate && { year: "numeric", month: "numeric", day: "numeric" }),
    ...(bare && withTime && { hour: "numeric", minute: "2-digit", second: "2-digit" }) };
  const whole = all.month && all.day, other = all.month || all.day || all.year || all.hour;
  if ((all.weekday && other && !whole) || (all.year && all.day && !all.month)) {
    throw new Error("toLocaleString does not know these options here: format the date yourself");
  }
  const date = dateInEnglish(this, all), time = timeInEnglish(this, all);
  const between = /long/.test(all.month) && date && time ? " at " : ", ";
  return [date, time].filter(Boolean).join(between);
};
Date.prototype.toLocaleString = ofDate(true, true);
Date.prototype.toLocaleDateString = ofDate(true, false);
Date.prototype.toLocaleTimeString = ofDate(false, true);
Number.prototype.toLocaleString = function (_, options) {
  return inEnglish(this.valueOf(), options);
};
"""
BUFFER_CALLS = frozenset(("from", "byteLength", "isBuffer"))
LOCALE_CALLS = frozenset(("toLocaleString", "toLocaleDateString", "toLocaleTimeString"))
MAX_OPTIONS = 80  # in tokens
_LANGUAGES = frozenset(("en-US", "en", "default", "en-us", "undefined"))
_OPTIONS = frozenset(
    ("weekday", "year", "month", "day", "hour", "minute", "second", "hour12",
     "minimumFractionDigits", "maximumFractionDigits", "timeZone")
)  # fmt: skip
_VALUES = frozenset(("long", "short", "numeric", "2-digit", "UTC"))


def in_english(tokens: Sequence[ProgramToken], place: int) -> bool:
    """Return whether the additions support the language and options of the call at `place`."""
    given = tokens[place + 1 : place + MAX_OPTIONS]
    at = [token.text for token in given]
    if at[:1] != ["("]:
        return False
    end = next((n for n, one in enumerate(given) if n and one.depth == given[0].depth), 0)
    language = at[1].strip("'\"") if end > 1 else "undefined"
    if not end or language not in _LANGUAGES:
        return False
    return all(_known(given, number) for number in range(3, end))


def _known(given: Sequence[ProgramToken], number: int) -> bool:
    """Return False for a token in the options that is an unknown option or text, or `...`."""
    token, key = given[number], given[number + 1].text == ":"
    if token.kind == TEXT:
        return token.text.strip("'\"") in _VALUES
    if token.kind == WORD:
        return token.text in _OPTIONS if key else given[number - 1].text == ":"
    return token.text != "..."
