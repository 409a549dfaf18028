import { brief, type Name } from "../expressions/names";
import { preview } from "../expressions/preview";
import { rich } from "../words/rich";

/** What the text would have been in the last run, where paths alone tell. */
export function LastValue({ text, names }: { text: string; names: () => readonly Name[] }) {
  const value = preview(text, names());
  if (value === undefined) return null;
  return (
    <p className="last-value">
      {rich("forms.lastRun", {
        value: <code>{typeof value === "string" ? value.slice(0, 300) : brief(value, 300)}</code>,
      })}
    </p>
  );
}
