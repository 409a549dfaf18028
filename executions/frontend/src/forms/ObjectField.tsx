import type { Json, JsonObject } from "../document/types";
import { Button } from "../shared/Button";
import { t } from "../words/t";
import type { ControlProps } from "./Control";
import { Field } from "./Field";
import { useFrame } from "./frame";
import type { Property } from "./kinds";
import { labelOf } from "./labels";
import type { Pointer } from "./pointer";

interface Props extends ControlProps {
  properties: readonly Property[];
}

/** The fields of an object inside a form; an optional object is added and removed as a whole. */
export function ObjectField(props: Props) {
  const { id, label, value, pointer, nothing, required, properties, describedBy } = props;
  const { change, refusal } = useFrame();
  const there = value !== undefined && value !== null;
  if (!there && !required && nothing === undefined) {
    return (
      <Button
        icon="add"
        label={t("forms.add", { label: label.toLowerCase() })}
        refusal={refusal}
        onClick={() => change(pointer, {})}
      />
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be described by what follows it
    <div
      className="nested"
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={describedBy}
    >
      <Fields properties={properties} pointer={pointer} value={value} />
      {!required && nothing === undefined && (
        <Button
          icon="delete"
          label={t("forms.remove", { name: label.toLowerCase() })}
          refusal={refusal}
          onClick={() => change(pointer, undefined)}
        />
      )}
    </div>
  );
}

interface FieldsProps {
  properties: readonly Property[];
  pointer: Pointer;
  value: Json | undefined;
}

/** A field for each property, followed by the keys that the schema does not name. */
export function Fields({ properties, pointer, value }: FieldsProps) {
  const object: JsonObject =
    value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
  const unknown = Object.keys(object).filter((key) => !properties.some((one) => one.key === key));
  return (
    <>
      {properties.map(({ key, schema, required }) => (
        <Field
          key={key}
          label={labelOf(key)}
          schema={schema}
          pointer={[...pointer, key]}
          value={object[key]}
          required={required}
        />
      ))}
      {unknown.map((key) => (
        <Field
          key={key}
          label={t("forms.unknown", { name: key })}
          schema={{}}
          pointer={[...pointer, key]}
          value={object[key]}
        />
      ))}
    </>
  );
}
