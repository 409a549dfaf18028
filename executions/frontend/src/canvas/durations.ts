import { decimalText } from "../words/formats";
import { t } from "../words/t";

/** Format a duration so that it fits below a card; "" if it is unknown. */
export function took(from: string | null | undefined, to: string | null | undefined): string {
  if (!from || !to) return "";
  const ms = Date.parse(to) - Date.parse(from);
  if (!Number.isFinite(ms) || ms < 0) return "";
  if (ms < 1000) return t("shared.milliseconds", { value: Math.round(ms) });
  if (ms < 60_000) return t("shared.seconds", { value: decimalText(ms / 1000, 1) });
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) {
    return t("shared.minutesSeconds", { minutes, seconds: Math.round((ms % 60_000) / 1000) });
  }
  return t("shared.hoursMinutes", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}
