import { useId, useMemo, useState } from "react";
import type { Json, JsonObject } from "../document/types";
import { t } from "../words/t";
import { Control } from "./Control";
import { problemsAt, useFrame } from "./frame";
import { Help } from "./Help";
import { shapeOf } from "./kinds";
import { Modes } from "./Modes";
import { type Mode, modeFor, structured } from "./modes";
import { keyOf, type Pointer } from "./pointer";

export interface FieldProps {
  label: string;
  schema: JsonObject;
  pointer: Pointer;
  value: Json | undefined;
  required?: boolean;
  /** Whether it is part of a list or map: only screen readers read its label; empty values stay. */
  part?: boolean;
}

/** One value of a form: its label, control, description and problems. */
export function Field(props: FieldProps) {
  const { label, schema, pointer, value, required, part } = props;
  const id = useId();
  const frame = useFrame();
  const shape = useMemo(() => shapeOf(schema, frame.root), [schema, frame.root]);
  const [wanted, setWanted] = useState<Mode | null>(null);
  const mode = modeFor(shape.kinds, value, wanted, exampleOf(shape.schema));
  const problems = problemsAt(frame.problems, [...frame.base, ...pointer], mode === "json");
  const group = typeof mode === "object" && structured(mode);
  const inline = typeof mode === "object" && mode.is === "yesno" && !part;
  const nothing = part ? null : undefined;
  const name = { className: part ? "unseen" : "label", id: `${id}-label` };
  const text = (
    <>
      {label}
      {required && <Required />}
    </>
  );
  return (
    <div
      className={`field${inline ? " inline" : ""}${part ? " part" : ""}`}
      data-field={keyOf([...frame.base, ...pointer])}
      // Keep the mode while the user edits, even if the field becomes empty.
      onInput={() => setWanted(mode)}
    >
      <div className="field-head">
        {group ? (
          <span {...name}>{text}</span>
        ) : (
          <label {...name} htmlFor={id}>
            {text}
          </label>
        )}
        <Modes
          kinds={shape.kinds}
          onMode={setWanted}
          {...{ mode, label, pointer, value, nothing }}
        />
      </div>
      <Control
        id={id}
        describedBy={`${id}-help`}
        invalid={problems.length > 0}
        required={required ?? false}
        {...{ label, mode, shape, pointer, value, nothing }}
      />
      <Help id={`${id}-help`} shape={shape} problems={problems} short={part ?? false} />
    </div>
  );
}

/** Return the first example, or the default. */
function exampleOf({ examples, default: given }: JsonObject): Json | undefined {
  const [first] = Array.isArray(examples) ? examples : [];
  return first ?? given;
}

const Required = () => (
  <span className="required" title={t("forms.required")}>
    <span aria-hidden="true">*</span>
    <span className="unseen">{t("forms.requiredAside")}</span>
  </span>
);
