import { useState } from "react";
import type { JsonObject } from "../document/types";
import { Button } from "../shared/Button";
import { t } from "../words/t";
import type { ControlProps } from "./Control";
import { Field } from "./Field";
import { useFrame } from "./frame";
import { emptyOf, shapeOf } from "./kinds";
import { RowButtons } from "./ListField";
import { ShowMore, useShown } from "./ShowMore";

interface Props extends ControlProps {
  values: JsonObject;
}

/** Keys and values that the user can type. */
export function MapField({ id, label, value, pointer, values, describedBy }: Props) {
  const { change, refusal, root } = useFrame();
  const object: JsonObject =
    value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
  const keys = Object.keys(object);
  const [first] = shapeOf(values, root).kinds;
  const put = (entries: [string, JsonObject[string]][]): void =>
    change(pointer, Object.fromEntries(entries));
  const [shown, show] = useShown();
  const add = (): void => {
    show(keys.length + 1);
    const start = (first && emptyOf(first)) ?? null;
    put([...Object.entries(object), [freeKey(keys), start]]);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be described by what follows it
    <div
      className="rows"
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={describedBy}
    >
      {keys.slice(0, shown).map((key, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a key changes while it is typed
        <div className="row pair" key={at}>
          <KeyInput
            label={t("forms.nameOf", { number: at + 1, list: label })}
            name={key}
            taken={keys}
            refusal={refusal}
            onChange={(next) =>
              put(Object.entries(object).map(([k, v]) => [k === key ? next : k, v]))
            }
          />
          <Field
            label={t("forms.valueOf", { name: key || t("forms.theUnnamed") })}
            schema={values}
            pointer={[...pointer, key]}
            value={object[key]}
            part
          />
          <RowButtons
            name={t("forms.from", { name: key || t("forms.theUnnamed"), list: label })}
            refusal={refusal}
            onRemove={() => put(Object.entries(object).filter(([k]) => k !== key))}
          />
        </div>
      ))}
      <ShowMore count={keys.length} shown={shown} onShow={show} />
      <Button
        icon="add"
        label={t("forms.addTo", { list: label.toLowerCase() })}
        refusal={refusal}
        onClick={add}
      />
    </div>
  );
}

/** Return the first free name of `name`, `name2`, … */
function freeKey(taken: readonly string[]): string {
  if (!taken.includes("name")) return "name";
  let number = 2;
  while (taken.includes(`name${number}`)) number += 1;
  return `name${number}`;
}

interface KeyProps {
  label: string;
  name: string;
  taken: readonly string[];
  refusal: string | undefined;
  onChange: (name: string) => void;
}

/** The input for a key; it reports a key that already exists, and does not apply it. */
function KeyInput({ label, name, taken, refusal, onChange }: KeyProps) {
  const [clash, setClash] = useState<string | null>(null);
  return (
    <span className="key">
      <input
        className="input code"
        aria-label={label}
        autoComplete="off"
        spellCheck={false}
        value={clash ?? name}
        readOnly={refusal !== undefined}
        aria-invalid={clash !== null || undefined}
        title={clash === null ? undefined : t("forms.thereIsAlready", { name: clash })}
        onBlur={() => setClash(null)}
        onChange={(event) => {
          const next = event.currentTarget.value;
          const free = next === name || !taken.includes(next);
          setClash(free ? null : next);
          if (free) onChange(next);
        }}
      />
      {clash !== null && <span className="wrong">{t("forms.taken")}</span>}
    </span>
  );
}
