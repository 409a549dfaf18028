import { useId } from "react";
import { changeNotes } from "../document/edits";
import { bodyAt } from "../document/paths";
import type { Note } from "../document/types";
import { Button } from "../shared/Button";
import { COLOURS, colourName } from "../shared/noteColours";
import { useRefusal } from "../store/readOnly";
import type { ChosenNote } from "../store/selection";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";

/** A note on the canvas: its text and its colour. */
export function NotePanel({ chosen }: { chosen: ChosenNote }) {
  const document = useDocument();
  const { edit, select } = useStudio.getState();
  const refusal = useRefusal();
  const field = useId();
  const { body, id } = chosen;
  const note = bodyAt(document, body)?.ui?.notes?.find((one) => one.id === id);
  if (!note) return <p className="subtle panel">{t("inspector.thisNoteIsGone")}</p>;
  const change = (changes: Partial<Note>, merge?: string): void =>
    edit(
      (old) =>
        changeNotes(old, body, (all) =>
          all.map((one) => (one.id === id ? { ...one, ...changes } : one)),
        ),
      merge,
    );
  const remove = (): void => {
    edit((old) => changeNotes(old, body, (all) => all.filter((one) => one.id !== id)));
    select({});
  };
  return (
    <section className="panel" aria-label={t("inspector.note")}>
      <h2>{t("inspector.note")}</h2>
      <div className="field">
        <label className="label" htmlFor={field}>
          {t("inspector.text")}
        </label>
        <textarea
          id={field}
          className="input"
          rows={6}
          value={note.text}
          readOnly={refusal !== undefined}
          onChange={(event) => change({ text: event.currentTarget.value }, `note ${id}`)}
        />
      </div>
      <fieldset className="colours">
        <legend className="label">{t("inspector.colour")}</legend>
        {COLOURS.map((colour) => (
          <label key={colour} className={`note-colour ${colour}`}>
            <input
              type="radio"
              name={`${field}-colour`}
              checked={(note.color ?? "yellow") === colour}
              disabled={refusal !== undefined}
              onChange={() => change({ color: colour })}
            />
            {colourName(colour)}
          </label>
        ))}
      </fieldset>
      <p>
        <Button
          icon="delete"
          label={t("inspector.deleteTheNote")}
          refusal={refusal}
          onClick={remove}
        />
      </p>
    </section>
  );
}
