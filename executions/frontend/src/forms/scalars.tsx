/** Controls for values without parts. */
import { useState } from "react";
import type { Json } from "../document/types";
import { holdsTemplate } from "../expressions/preview";
import { t } from "../words/t";
import type { ControlProps } from "./Control";
import { useFrame } from "./frame";
import type { Shape } from "./kinds";
import { LastValue } from "./LastValue";
import { TemplateInput } from "./TemplateInput";

const LONG =
  /^(text|html|body|code|statement|messages?|system|content|prompt|script|xml|description)$/;
const CODE = /^(code|statement|html|script|xml|expression|schedule)$/;

/** A text, or an expression instead of another value. */
export function TextField(props: ControlProps) {
  const { id, value, pointer, nothing, shape, required } = props;
  const { change, names, refusal } = useFrame();
  const text = typeof value === "string" ? value : "";
  const key = String(pointer.at(-1) ?? "");
  return (
    <>
      <TemplateInput
        id={id}
        value={text}
        names={names}
        multiline={LONG.test(key) || text.includes("\n")}
        code={CODE.test(key) || props.mode === "expression"}
        readOnly={refusal !== undefined}
        placeholder={props.mode === "expression" ? "{{ … }}" : placeholderOf(shape)}
        describedBy={props.describedBy}
        invalid={props.invalid}
        onChange={(next) =>
          change(pointer, next === "" && !required && nothing === undefined ? undefined : next)
        }
      />
      {names && holdsTemplate(text) && <LastValue text={text} names={names} />}
    </>
  );
}

/** Return the default, or the first example. */
function placeholderOf({ schema }: Shape): string | undefined {
  if (typeof schema.default === "string" && schema.default !== "") return schema.default;
  const first = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  if (first === undefined || first === null || typeof first === "object") return undefined;
  return t("forms.eG", { example: String(first) }).replaceAll("\n", " ");
}

/** A number; other text stays in the field with an error. */
export function NumberField(props: ControlProps) {
  const { id, value, pointer, nothing, shape } = props;
  const { change, refusal } = useFrame();
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typeof value === "number" ? String(value) : "";
  const text = typed !== null && (readNumber(typed) ?? "") === (value ?? "") ? typed : shown;
  const wrong = typed !== null && typed.trim() !== "" && readNumber(typed) === undefined;
  const given = shape.schema.default;
  return (
    <>
      <input
        id={id}
        className="input number"
        inputMode="decimal"
        autoComplete="off"
        value={wrong ? typed : text}
        readOnly={refusal !== undefined}
        placeholder={typeof given === "number" ? String(given) : placeholderOf(shape)}
        aria-describedby={`${props.describedBy}${wrong ? ` ${id}-wrong` : ""}`}
        aria-invalid={props.invalid || wrong || undefined}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setTyped(next);
          const number = readNumber(next);
          if (number !== undefined) change(pointer, number);
          else if (next.trim() === "") change(pointer, nothing);
        }}
      />
      {wrong && (
        <p id={`${id}-wrong`} className="wrong">
          {t("forms.notANumber", {
            text: JSON.stringify(typed),
            value: shown === "" ? t("forms.nothing") : shown,
          })}
        </p>
      )}
    </>
  );
}

const readNumber = (text: string): number | undefined =>
  /^\s*-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?\s*$/.test(text) ? Number(text) : undefined;

/** A checkbox; without a value it shows the default. */
export function YesNoField({ id, value, pointer, shape, describedBy, invalid }: ControlProps) {
  const { change, refusal } = useFrame();
  const on = typeof value === "boolean" ? value : shape.schema.default === true;
  return (
    <input
      id={id}
      type="checkbox"
      className="check"
      checked={on}
      aria-disabled={refusal ? true : undefined}
      aria-describedby={describedBy}
      aria-invalid={invalid || undefined}
      onChange={(event) => refusal ?? change(pointer, event.currentTarget.checked)}
    />
  );
}

interface ChoiceProps extends ControlProps {
  options: readonly Json[];
}

/** A choice of values; the first option means the default, or no value. */
export function ChoiceField(props: ChoiceProps) {
  const { id, value, pointer, nothing, shape, options, required } = props;
  const { change, refusal } = useFrame();
  const at = value === undefined ? -1 : options.indexOf(value);
  const given = shape.schema.default;
  const none =
    given === undefined || given === null
      ? t("forms.notSet")
      : t("forms.valueByDefault", { value: wordOf(given) });
  return (
    <select
      id={id}
      className="input"
      value={at}
      aria-disabled={refusal ? true : undefined}
      aria-describedby={props.describedBy}
      aria-invalid={props.invalid || undefined}
      onChange={(event) => {
        if (!refusal) change(pointer, options[Number(event.currentTarget.value)] ?? nothing);
      }}
    >
      {(at < 0 || !required) && <option value={-1}>{required ? t("forms.choose") : none}</option>}
      {options.map((option, index) => (
        <option key={wordOf(option)} value={index}>
          {wordOf(option)}
        </option>
      ))}
    </select>
  );
}

const wordOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
