/**
 * Shows stored values as text: formatted, masked if the key names a secret, limited in length, and
 * with a copy button.
 */
import type { Json, JsonObject } from "../document/types";
import { Icon } from "../shared/Icon";
import { numberText } from "../words/formats";
import { t } from "../words/t";
import { Note } from "./pieces";

const SHOWN = 100_000;
const MASK = "••••••";
// The same pattern as in the admin's pages (executions/admin/values.py).
const SECRET =
  /^(authorization|cookie|set-cookie|.*(password|passwd|secret|api[-_]?key|private[-_]?key)|(access|refresh|auth|bearer)[-_]?token)$/i;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether the API returned a placeholder instead of the value. */
export const isHidden = (value: Json | undefined): boolean => isObject(value) && "$hidden" in value;

export function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET.test(key) && inner !== null && inner !== "" ? MASK : masked(inner),
    ]),
  );
}

/** A value as JSON with a copy button, or a sentence if it is hidden or empty. */
export function Value({
  value,
  nothing = t("monitor.nothing"),
}: {
  value: Json;
  nothing?: string;
}) {
  if (isHidden(value)) return <Note>{t("monitor.hiddenNeedsThePermissionView")}</Note>;
  if (value === null || value === undefined) return <Note>{nothing}</Note>;
  const text = JSON.stringify(masked(value), null, 2);
  return (
    <>
      <CopyButton text={text} />
      <Preformatted text={text} />
    </>
  );
}

/** A preformatted text; if it is too long, it ends with a note. */
export function Preformatted({ text }: { text: string }) {
  const rest = text.length - SHOWN;
  const end = t("monitor.charactersMoreTheApiGives", { count: numberText(rest) });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which the keyboard must reach
    <pre className="vk-pre" tabIndex={0}>
      {rest > 0 ? `${text.slice(0, SHOWN)}\n${end}` : text}
    </pre>
  );
}

/** The admin's script handles the click. */
export const CopyButton = ({ text }: { text: string }) => (
  <button type="button" className="vk-button vm-small" data-copy={text}>
    <Icon name="content_copy" />
    <b>{t("monitor.copyAsJson")}</b>
  </button>
);
