import { brief, type Name } from "../expressions/names";
import { preview } from "../expressions/preview";

/** What the text would have been in the last run, where paths alone tell. */
export function LastValue({ text, names }: { text: string; names: () => readonly Name[] }) {
  const value = preview(text, names());
  if (value === undefined) return null;
  return (
    <p className="last-value">
      Last run: <code>{typeof value === "string" ? value.slice(0, 300) : brief(value, 300)}</code>
    </p>
  );
}
