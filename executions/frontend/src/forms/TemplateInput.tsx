import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useRef } from "react";
import { inserted, opened } from "../expressions/completing";
import { atCursor } from "../expressions/cursor";
import type { Name } from "../expressions/names";
import { Suggestions } from "./Suggestions";
import { remember } from "./targets";
import { useCompletion } from "./useCompletion";

export interface TemplateInputProps {
  id: string;
  value: string;
  onChange: (text: string) => void;
  /** The names that templates can use; null if the text cannot contain templates. */
  names: (() => readonly Name[]) | null;
  multiline?: boolean;
  code?: boolean;
  readOnly?: boolean;
  required?: boolean;
  placeholder?: string | undefined;
  describedBy?: string | undefined;
  invalid?: boolean;
  label?: string | undefined;
}

type TextField = HTMLInputElement | HTMLTextAreaElement;

/** A text that can contain templates: typing `{{`, or Ctrl+Space, lists the names. */
export function TemplateInput(props: TemplateInputProps) {
  const { id, value, names } = props;
  const field = useRef<TextField>(null);
  const list = useId();
  const caret = useCaret(field);
  const edit = (text: string, place: number): void => {
    caret.current = place;
    props.onChange(text);
  };
  const completion = useCompletion(names, edit);
  const insert = (path: string): void => {
    const at = field.current;
    if (!at || props.readOnly) return;
    const edited = inserted(at.value, at.selectionStart ?? 0, at.selectionEnd ?? 0, path);
    edit(edited.text, edited.place);
    at.focus();
  };
  const pressed = (event: KeyboardEvent<TextField>): void => {
    if (completion.pressed(event, value)) return;
    if (event.key !== " " || !event.ctrlKey || !names || props.readOnly) return;
    event.preventDefault();
    const place = event.currentTarget.selectionStart ?? value.length;
    const edited = atCursor(value, place) ? { text: value, place } : opened(value, place);
    if (edited.text !== value) edit(edited.text, edited.place);
    completion.look(edited.text, edited.place);
  };
  const shared = {
    id,
    value,
    "data-text": "",
    className: props.code ? "input code" : "input",
    readOnly: props.readOnly,
    required: props.required,
    placeholder: props.placeholder,
    spellCheck: props.code ? false : undefined,
    autoComplete: "off",
    "aria-label": props.label,
    "aria-describedby": props.describedBy,
    "aria-invalid": props.invalid || undefined,
    "aria-autocomplete": names ? ("list" as const) : undefined,
    "aria-controls": completion.found ? list : undefined,
    "aria-activedescendant": completion.found ? `${list}-${completion.active}` : undefined,
    onKeyDown: pressed,
    onFocus: () => field.current && names && remember(field.current, insert),
    onBlur: completion.close,
    onChange: (event: { currentTarget: TextField }) => {
      const { value: text, selectionStart } = event.currentTarget;
      props.onChange(text);
      completion.look(text, selectionStart ?? text.length);
    },
  };
  return (
    <>
      {props.multiline && (
        <textarea {...shared} ref={field as RefObject<HTMLTextAreaElement>} rows={3} />
      )}
      {!props.multiline && !names && (
        <input {...shared} ref={field as RefObject<HTMLInputElement>} type="text" />
      )}
      {!props.multiline && names && (
        <input
          {...shared}
          ref={field as RefObject<HTMLInputElement>}
          type="text"
          role="combobox"
          aria-expanded={completion.found !== null}
        />
      )}
      {completion.found && (
        <Suggestions
          id={list}
          anchor={field}
          options={completion.found.options}
          active={completion.active}
          onChoose={(option) => completion.choose(option, value)}
          onClose={completion.close}
        />
      )}
    </>
  );
}

/** Set the cursor's position after the new text is rendered. */
function useCaret(field: RefObject<TextField | null>): RefObject<number | null> {
  const caret = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (caret.current === null) return;
    field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  return caret;
}
