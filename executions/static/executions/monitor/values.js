// Stored values as text: formatted, masked where a key says so, bounded, and copied on demand.
import { el, icon } from "./elements.js";

const SHOWN = 100_000;
const MASK = "••••••";
// The admin's pages mask the same (executions/admin/values.py).
const SECRET = /^(authorization|cookie|set-cookie|.*(password|passwd|secret|api[-_]?key|private[-_]?key)|(access|refresh|auth|bearer)[-_]?token)$/i;

/** Whether the API put something in a value's place. */
export const isHidden = (value) => value !== null && typeof value === "object" && "$hidden" in value;

export function masked(value) {
  if (Array.isArray(value)) return value.map(masked);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, SECRET.test(key) && inner !== null && inner !== "" ? MASK : masked(inner)]),
  );
}

/** A value as JSON with a button that copies it, or a sentence where it is hidden or nothing. */
export function shown(value, nothing = "Nothing.") {
  if (isHidden(value)) return el("p", { class: "vm-note", text: "Hidden: needs the permission view_payloads." });
  if (value === null || value === undefined) return el("p", { class: "vm-note", text: nothing });
  const text = JSON.stringify(masked(value), null, 2);
  return el("div", {}, copyButton(text, "Copy as JSON"), preformatted(text));
}

/** Text as it stands; a very long one ends with a note. */
export function preformatted(text) {
  const rest = text.length - SHOWN;
  const some = rest > 0 ? `${text.slice(0, SHOWN)}\n… ${rest.toLocaleString("en")} characters more; the API gives the whole.` : text;
  return el("pre", { class: "vk-pre", tabindex: "0", text: some });
}

export const copyButton = (text, label) =>
  el("button", { type: "button", class: "vk-button vm-small", "data-copy": text }, icon("content_copy"), el("b", { text: label }));
