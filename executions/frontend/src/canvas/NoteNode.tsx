import { type NodeProps, NodeResizer } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import { changeNotes } from "../document/edits";
import type { Note } from "../document/types";
import { Button } from "../shared/Button";
import { COLOURS, colourName } from "../shared/noteColours";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { removeSelected } from "./commands";
import type { NoteData, NoteNode as Shown } from "./graph";
import { useWriting } from "./writing";

export const LEAST_NOTE = { w: 140, h: 70 };

/** A note on the canvas, for readers of the workflow; it does not affect executions. */
export const NoteNode = memo(function NoteNode({ id, data, selected }: NodeProps<Shown>) {
  const canEdit = useStudio((state) => state.page.canEdit);
  const writing = useWriting((state) => state.note === id);
  const { note } = data;
  const write = (): void => {
    if (canEdit) useWriting.setState({ note: id });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the node around it has the focus and Enter
    <div
      className={`note ${note.color ?? "yellow"} ${selected ? "chosen" : ""}`}
      data-note={note.id}
      onDoubleClick={write}
    >
      <NodeResizer
        isVisible={selected && canEdit}
        minWidth={LEAST_NOTE.w}
        minHeight={LEAST_NOTE.h}
      />
      {selected && canEdit && <NoteTools data={data} onWrite={write} />}
      {writing ? (
        <Text data={data} onDone={() => useWriting.setState({ note: null })} />
      ) : (
        <p>{note.text || <span className="line">{canEdit ? t("canvas.emptyNote") : ""}</span>}</p>
      )}
    </div>
  );
});

/** The buttons of a selected note: edit its text, choose its colour, delete it. */
export function NoteTools({ data, onWrite }: { data: NoteData; onWrite: () => void }) {
  const now = data.note.color ?? "yellow";
  return (
    <fieldset className="note-tools nodrag nopan" aria-label={t("canvas.note")}>
      <Button bare icon="edit" label={t("canvas.editTheText")} onClick={onWrite} />
      {COLOURS.map((color) => (
        <button
          key={color}
          type="button"
          className={`swatch ${color}`}
          aria-label={colourName(color)}
          title={colourName(color)}
          aria-pressed={now === color}
          onClick={() => change(data, (note) => ({ ...note, color }))}
        />
      ))}
      <Button bare icon="delete" label={t("canvas.deleteTheNote")} onClick={removeSelected} />
    </fieldset>
  );
}

function Text({ data, onDone }: { data: NoteData; onDone: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const area = field.current;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, []);
  return (
    <textarea
      ref={field}
      className="nodrag nopan nowheel"
      aria-label={t("canvas.textOfTheNote")}
      value={data.note.text}
      onBlur={onDone}
      onChange={(event) => {
        const text = event.target.value;
        change(data, (note) => ({ ...note, text }), `note:${data.note.id}`);
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key !== "Escape") return;
        event.currentTarget.closest<HTMLElement>(".react-flow__node")?.focus();
      }}
    />
  );
}

function change({ body, note }: NoteData, into: (note: Note) => Note, merge?: string): void {
  useStudio
    .getState()
    .edit(
      (document) =>
        changeNotes(document, body, (notes) =>
          notes.map((one) => (one.id === note.id ? into(one) : one)),
        ),
      merge,
    );
}
