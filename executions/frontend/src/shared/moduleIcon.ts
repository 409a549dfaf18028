import type { ModuleType } from "../api/shapes";

/** Material Symbols of modules with a better icon than that of their category. */
const OF_TYPE: Readonly<Record<string, string>> = {
  "flow.if": "call_split",
  "flow.switch": "alt_route",
  "flow.merge": "call_merge",
  "flow.loop": "repeat",
  "flow.map": "dynamic_feed",
  "flow.delay": "hourglass_top",
  "flow.approval": "how_to_reg",
  "flow.wait_for_event": "notifications_active",
  "flow.callback": "call_received",
  "flow.subworkflow": "account_tree",
  "http.request": "http",
  "mail.send": "mail",
  "data.set": "edit_note",
};

const OF_CATEGORY: Readonly<Record<string, string>> = {
  control: "route",
  data: "data_object",
  network: "language",
  messages: "forum",
  databases: "database",
  files: "folder",
  code: "code",
  "language models": "auto_awesome",
  payments: "credit_card",
  remote: "computer",
  custom: "extension",
};

/** Return the icon of a module type: its own, or one by type or category. */
export function iconOf(type: ModuleType | undefined): string {
  if (!type) return "help";
  return type.icon || OF_TYPE[type.type] || OF_CATEGORY[type.category.toLowerCase()] || "extension";
}
