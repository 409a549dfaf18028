/** Labels of the definition's keys. */

const SPELLED: Readonly<Record<string, string>> = {
  api: "API",
  csv: "CSV",
  html: "HTML",
  http: "HTTP",
  id: "ID",
  json: "JSON",
  mb: "MB",
  sql: "SQL",
  ttl: "TTL",
  url: "URL",
  xml: "XML",
};

/** `timeoutSeconds` → "Timeout seconds", `baseUrl` → "Base URL", `page_size` → "Page size". */
export function labelOf(key: string): string {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[\s_-]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
  const spelled = words.map((word) => SPELLED[word] ?? word);
  const text = spelled.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Return the first sentence of a description, or its first paragraph without a full stop. */
export function firstSentence(text: string): string {
  // An abbreviation also ends with a dot, but a lower-case letter follows it.
  const end = text.search(/(?<=[.!?])(\s+[^a-z\s]|\s*$)|\s*\n\s*\n/);
  return end < 0 ? text : text.slice(0, end);
}
