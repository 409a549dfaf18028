import type { Json } from "../document/types";
import { keyPath } from "../problems/found";
import { Icon } from "../shared/Icon";
import type { Change } from "./compare";
import type { FieldChange } from "./fields";

const MARKS: Record<Change["kind"], [icon: string, word: string]> = {
  added: ["add_circle", "added"],
  removed: ["do_not_disturb_on", "removed"],
  changed: ["change_circle", "changed"],
};
const NOUNS: Record<Change["what"], string> = { task: "Task", edge: "Edge", workflow: "Workflow" };
const SHOWN = 300;
const LONGEST = 2000;

/** Changes in words, with the old and the new value of each field. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) {
    return (
      <p className="comparison-none">
        The documents differ at most in where things stand on the canvas.
      </p>
    );
  }
  return (
    <ul className="diff-changes">
      {changes.slice(0, SHOWN).map((change) => (
        <li key={`${change.kind}${change.what}${change.task ?? change.title}`}>
          <OneChange change={change} />
        </li>
      ))}
      {changes.length > SHOWN && <li>{changes.length - SHOWN} more are not shown.</li>}
    </ul>
  );
}

function OneChange({ change }: { change: Change }) {
  const [icon, word] = MARKS[change.kind];
  return (
    <>
      <p className={`diff-change ${change.kind}`}>
        <Icon name={icon} />
        <span className="diff-word">
          {NOUNS[change.what]} {word}
        </span>
        <strong>{change.title}</strong>
        {change.task !== null && change.task !== change.title && <code>{change.task}</code>}
      </p>
      {change.fields.length > 0 && (
        <table className="diff-fields">
          <thead className="unseen">
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {change.fields.map((field) => (
              <Field key={keyPath(field.pointer)} field={field} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Field({ field }: { field: FieldChange }) {
  return (
    <tr>
      <th scope="row">
        <code>{keyPath(field.pointer)}</code>
      </th>
      <td className="diff-was">
        <Value value={field.before} />
      </td>
      <td className="diff-now">
        <Value value={field.after} />
      </td>
    </tr>
  );
}

function Value({ value }: { value: Json | undefined }) {
  if (value === undefined) return <em>not there</em>;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return <code>{short === "" ? '""' : short}</code>;
}
