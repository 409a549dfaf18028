import { useCallback, useEffect, useRef, useState } from "react";
import type { Json } from "../document/types";
import { usePending } from "../saving/pending";
import { t } from "../words/t";
import { useFrame } from "./frame";
import { readJson, written } from "./jsonText";
import { TemplateInput } from "./TemplateInput";

interface Props {
  id: string;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  describedBy?: string;
  label?: string;
}

/** Length above which the text is parsed only when typing pauses, in characters. */
const BIG = 20_000;
const PAUSE = 300;

/** A value as JSON text; while the text is invalid, the last valid value stays. */
export function JsonField({ id, value, onChange, describedBy, label }: Props) {
  const { names, refusal } = useFrame();
  const [held, setHeld] = useState({ text: written(value), value });
  const [wrong, setWrong] = useState("");
  // The value changed elsewhere, for example by undo or in another field.
  if (held.value !== value) {
    setHeld({ text: written(value), value });
    setWrong("");
  }
  const [waiting, setWaiting] = useState<string | null>(null);
  const take = (text: string): void => {
    const read = text.trim() === "" ? { ok: true as const, value: undefined } : readJson(text);
    setWrong(
      read.ok
        ? ""
        : t("forms.lineColumn", { line: read.line, column: read.column, message: read.message }),
    );
    if (!read.ok) return;
    setHeld({ text, value: read.value });
    onChange(read.value);
  };
  const takeWaiting = (): void => {
    if (waiting === null) return;
    setWaiting(null);
    take(waiting);
  };
  const newest = useRef(takeWaiting);
  useEffect(() => {
    newest.current = takeWaiting;
    if (waiting === null) return;
    const timer = setTimeout(takeWaiting, PAUSE);
    return () => clearTimeout(timer);
  });
  // Apply the text early if the user saves, or leaves the task, before the pause ends.
  usePending(useCallback(() => newest.current(), []));
  return (
    <>
      <TemplateInput
        id={id}
        value={held.text}
        names={names}
        multiline
        code
        readOnly={refusal !== undefined}
        label={label}
        describedBy={wrong ? `${id}-wrong ${describedBy ?? ""}` : describedBy}
        invalid={wrong !== ""}
        onChange={(text) => {
          setHeld((old) => ({ ...old, text }));
          if (text.length > BIG) setWaiting(text);
          else take(text);
        }}
      />
      {wrong && (
        <p id={`${id}-wrong`} className="wrong">
          {wrong}
        </p>
      )}
    </>
  );
}
