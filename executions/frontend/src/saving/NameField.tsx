import { useEffect, useState } from "react";
import { announce } from "../shared/announce";
import { useDocument, useStudio } from "../store/studio";

const LONGEST = 200;

/** The workflow's name, to be changed where it stands; it is saved with the draft. */
export function NameField() {
  const name = useDocument().name;
  const canEdit = useStudio((state) => state.page.canEdit);
  const [typed, setTyped] = useState(name);
  useEffect(() => setTyped(name), [name]);
  if (!canEdit) return <h1>{name}</h1>;
  const take = (): void => {
    const wanted = typed.trim();
    if (wanted === "") announce("A workflow needs a name; the old one was kept.");
    setTyped(wanted || name);
    if (wanted === "" || wanted === name) return;
    useStudio.getState().edit((document) => ({ ...document, name: wanted }));
  };
  return (
    <>
      <h1 className="unseen">{name}</h1>
      <input
        className="name-field"
        aria-label="Name of the workflow"
        title="Rename"
        maxLength={LONGEST}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={take}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          if (event.key !== "Escape") return;
          event.stopPropagation();
          setTyped(name);
        }}
      />
    </>
  );
}
