import { useEffect, useRef, useState } from "react";
import { announce } from "../shared/announce";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";

const LONGEST = 200;

/** The workflow's name as an editable field; it is saved with the draft. */
export function NameField() {
  const name = useDocument().name;
  const canEdit = useStudio((state) => state.page.canEdit);
  const [typed, setTyped] = useState(name);
  const before = useRef(name);
  useEffect(() => setTyped((old) => (old.trim() === name ? old : name)), [name]);
  if (!canEdit) return <h1>{name}</h1>;
  const take = (value: string): void => {
    setTyped(value);
    const wanted = value.trim();
    if (wanted === "" || wanted === name) return;
    useStudio.getState().edit((document) => ({ ...document, name: wanted }), "name");
  };
  const leave = (): void => {
    if (typed.trim() === "") announce(t("saving.aWorkflowNeedsAName"));
    setTyped(name);
  };
  return (
    <>
      <h1 className="unseen">{name}</h1>
      <input
        className="name-field"
        aria-label={t("saving.nameOfTheWorkflow")}
        title={t("saving.rename")}
        maxLength={LONGEST}
        value={typed}
        onChange={(event) => take(event.target.value)}
        onFocus={() => {
          before.current = name;
        }}
        onBlur={leave}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          if (event.key !== "Escape") return;
          event.stopPropagation();
          take(before.current);
        }}
      />
    </>
  );
}
