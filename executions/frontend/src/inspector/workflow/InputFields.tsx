import { useId, useState } from "react";
import type { JsonObject } from "../../document/types";
import { type Frame, FrameContext } from "../../forms/frame";
import { JsonField } from "../../forms/JsonField";
import { Button } from "../../shared/Button";
import { Icon } from "../../shared/Icon";
import { useRefusal } from "../../store/readOnly";
import { rich } from "../../words/rich";
import { t } from "../../words/t";
import { putInWorkflow } from "../editing";
import {
  fieldsOf,
  type InputField,
  TYPES,
  withChange,
  withField,
  withoutField,
} from "./inputSchema";

interface Props {
  input: JsonObject | undefined;
  problems: Frame["problems"];
}

/** The payload's schema, as a list of fields or as JSON Schema. */
export function InputFields({ input, problems }: Props) {
  const [raw, setRaw] = useState(false);
  const refusal = useRefusal();
  const schema = input ?? {};
  const put = (next: JsonObject): void =>
    putInWorkflow(["input"], Object.keys(next).length > 0 ? next : undefined);
  const wrong = [...problems].filter(([key]) => key.split("/")[0] === "input");
  return (
    <div className="form" data-field="input">
      <p className="subtle">
        {rich("inspector.whatThePayloadHoldsWhichTemplates", { name: <code>input</code> })}
      </p>
      {wrong.flatMap(([key, sentences]) =>
        sentences.map((sentence) => (
          <p key={key + sentence} className="wrong">
            <Icon name="error" /> {sentence}
          </p>
        )),
      )}
      {raw ? (
        <Raw schema={input} refusal={refusal} />
      ) : (
        <>
          {fieldsOf(schema).map((field, at) => (
            <FieldRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a name changes while it is typed
              key={at}
              field={field}
              refusal={refusal}
              onChange={(changes) => put(withChange(schema, field.name, changes))}
              onRemove={() => put(withoutField(schema, field.name))}
            />
          ))}
          <Button
            icon="add"
            label={t("inspector.addAField")}
            refusal={refusal}
            onClick={() => put(withField(schema))}
          />
        </>
      )}
      <p className="panel-foot">
        <Button
          icon="data_object"
          label={raw ? t("inspector.showTheFields") : t("inspector.theJsonSchema")}
          aria-pressed={raw}
          onClick={() => setRaw(!raw)}
        />
      </p>
    </div>
  );
}

interface RowProps {
  field: InputField;
  refusal: string | undefined;
  onChange: (changes: Partial<InputField>) => void;
  onRemove: () => void;
}

function FieldRow({ field, refusal, onChange, onRemove }: RowProps) {
  const { name, type, required, description } = field;
  const readOnly = refusal !== undefined;
  return (
    <fieldset className="input-field" aria-label={t("inspector.field", { name })}>
      <input
        className="input code"
        aria-label={t("inspector.name")}
        autoComplete="off"
        spellCheck={false}
        value={name}
        readOnly={readOnly}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <select
        className="input"
        aria-label={t("inspector.type")}
        value={type}
        disabled={readOnly}
        onChange={(event) => onChange({ type: event.currentTarget.value })}
      >
        {TYPES.map(([key, word]) => (
          <option key={key} value={key}>
            {word}
          </option>
        ))}
      </select>
      <Button
        bare
        icon="close"
        label={t("inspector.remove", { name })}
        refusal={refusal}
        onClick={onRemove}
      />
      <input
        className="input about"
        aria-label={t("inspector.description")}
        placeholder={t("inspector.description")}
        autoComplete="off"
        value={description}
        readOnly={readOnly}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      <label className="required-check">
        <input
          type="checkbox"
          className="check"
          checked={required}
          disabled={readOnly}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
        {t("inspector.required")}
      </label>
    </fieldset>
  );
}

interface RawProps {
  schema: JsonObject | undefined;
  refusal: string | undefined;
}

function Raw({ schema, refusal }: RawProps) {
  const id = useId();
  const frame: Frame = {
    root: {},
    base: ["input"],
    refusal,
    problems: new Map(),
    change: () => undefined,
    names: null,
  };
  return (
    <FrameContext.Provider value={frame}>
      <JsonField
        id={id}
        label={t("inspector.jsonSchemaOfThePayload")}
        value={schema}
        onChange={(next) => putInWorkflow(["input"], next)}
      />
    </FrameContext.Provider>
  );
}
