import { changeNotes } from "../document/edits";
import { everyBody } from "../document/moving";
import type { BodyPath, Note } from "../document/types";
import { Button } from "../shared/Button";
import { Icon } from "../shared/Icon";
import { open } from "../shell/drawers";
import { useDocument, useStudio } from "../store/studio";
import { t } from "../words/t";

/** The notes of the canvas as a list; a click on a note shows its details. */
export function Notes() {
  const document = useDocument();
  const notes = everyBody(document).flatMap(({ path, body }) =>
    (body.ui?.notes ?? []).map((note) => ({ path, note })),
  );
  if (notes.length === 0) return null;
  return (
    <section aria-label={t("nodelist.notes")} className="list-notes">
      <h2>{t("nodelist.notes")}</h2>
      <ul>
        {notes.map(({ path, note }) => (
          <NoteLine key={[...path, note.id].join(".")} at={path} note={note} />
        ))}
      </ul>
    </section>
  );
}

function NoteLine({ at, note }: { at: BodyPath; note: Note }) {
  const canEdit = useStudio((state) => state.page.canEdit);
  const { select, edit } = useStudio.getState();
  const label = note.text.trim().split("\n")[0]?.slice(0, 100) || t("nodelist.emptyNote");
  const remove = (): void =>
    edit((document) => changeNotes(document, at, (all) => all.filter((one) => one.id !== note.id)));
  return (
    <li>
      <button
        type="button"
        className="task-name"
        onClick={() => {
          select({ notes: [{ body: at, id: note.id }] });
          open("inspector");
        }}
      >
        <Icon name="sticky_note_2" />
        <span>{label}</span>
      </button>
      {canEdit && (
        <Button icon="delete" label={t("nodelist.delete", { name: label })} bare onClick={remove} />
      )}
    </li>
  );
}
