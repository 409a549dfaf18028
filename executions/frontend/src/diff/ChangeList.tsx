import type { Json } from "../document/types";
import { keyPath } from "../problems/found";
import { Icon } from "../shared/Icon";
import { t } from "../words/t";
import type { Key } from "../words/types";
import type { Change } from "./compare";
import type { FieldChange } from "./fields";

const ICONS: Record<Change["kind"], string> = {
  added: "add_circle",
  removed: "do_not_disturb_on",
  changed: "change_circle",
};
const WORDS = {
  task: { added: "diff.taskAdded", removed: "diff.taskRemoved", changed: "diff.taskChanged" },
  edge: { added: "diff.edgeAdded", removed: "diff.edgeRemoved", changed: "diff.edgeChanged" },
  workflow: {
    added: "diff.workflowAdded",
    removed: "diff.workflowRemoved",
    changed: "diff.workflowChanged",
  },
} as const satisfies Record<Change["what"], Record<Change["kind"], Key>>;
const SHOWN = 300;
const LONGEST = 2000;

/** A list of changes, with the old and the new value of each field. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) {
    return <p className="comparison-none">{t("diff.theDocumentsDifferAtMost")}</p>;
  }
  return (
    <ul className="diff-changes">
      {changes.slice(0, SHOWN).map((change) => (
        <li key={`${change.kind}${change.what}${change.task ?? change.title}`}>
          <OneChange change={change} />
        </li>
      ))}
      {changes.length > SHOWN && (
        <li>{t("diff.moreAreNotShown", { count: changes.length - SHOWN })}</li>
      )}
    </ul>
  );
}

function OneChange({ change }: { change: Change }) {
  return (
    <>
      <p className={`diff-change ${change.kind}`}>
        <Icon name={ICONS[change.kind]} />
        <span className="diff-word">{t(WORDS[change.what][change.kind])}</span>
        <strong>{change.title}</strong>
        {change.task !== null && change.task !== change.title && <code>{change.task}</code>}
      </p>
      {change.fields.length > 0 && (
        <table className="diff-fields">
          <thead className="unseen">
            <tr>
              <th scope="col">{t("diff.field")}</th>
              <th scope="col">{t("diff.before")}</th>
              <th scope="col">{t("diff.after")}</th>
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
  if (value === undefined) return <em>{t("diff.notThere")}</em>;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return <code>{short === "" ? '""' : short}</code>;
}
