import { useState } from "react";
import { brief, type Name } from "../../expressions/names";
import { type Step, writePath } from "../../expressions/path";
import { Button } from "../../shared/Button";
import { t } from "../../words/t";
import { takePath } from "./copying";

/** All names that templates of a place can use, with values of the displayed execution. */
export function Available({ names }: { names: readonly Name[] }) {
  return (
    <div className="tree">
      <p className="subtle">{t("inspector.aClickWritesTheNameInto")}</p>
      {names.map((name) => (
        <Branch key={name.step} name={name} steps={[name.step]} />
      ))}
    </div>
  );
}

function Branch({ name, steps }: { name: Name; steps: readonly Step[] }) {
  const [open, setOpen] = useState(false);
  const path = writePath(steps);
  const below = open ? (name.children?.() ?? []) : [];
  return (
    <div className="branch">
      <div className="branch-line">
        {name.children ? (
          <Button
            bare
            icon={open ? "keyboard_arrow_down" : "keyboard_arrow_right"}
            label={t(open ? "inspector.closePath" : "inspector.openPath", { path })}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
        ) : (
          <span className="branch-space" />
        )}
        <button
          type="button"
          className="branch-key"
          aria-label={t("inspector.insert", { path })}
          title={t("inspector.insertExpression", { expression: `{{ ${path} }}` })}
          // Keep the focus in the edited field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => takePath(path)}
        >
          <code>{name.step}</code>
        </button>
        <span className={name.value === undefined ? "branch-about" : "branch-value"}>
          {name.value === undefined ? name.about : brief(name.value)}
        </span>
      </div>
      {open && (
        <div className="branch-parts">
          {below.map((part) => (
            <Branch key={part.step} name={part} steps={[...steps, part.step]} />
          ))}
          {below.length === 0 && <p className="subtle">{t("inspector.nothingYet")}</p>}
        </div>
      )}
    </div>
  );
}
