import type { Json, JsonObject } from "../document/types";
import { Button } from "../shared/Button";
import { t } from "../words/t";
import type { ControlProps } from "./Control";
import { Field } from "./Field";
import { useFrame } from "./frame";
import { emptyOf, shapeOf } from "./kinds";
import { ShowMore, useShown } from "./ShowMore";

interface Props extends ControlProps {
  items: JsonObject;
}

/** The items of a list, one below another. */
export function ListField({ id, label, value, pointer, items, describedBy }: Props) {
  const { change, refusal, root } = useFrame();
  const list = Array.isArray(value) ? value : [];
  const [first] = shapeOf(items, root).kinds;
  const [shown, show] = useShown();
  const add = (): void => {
    show(list.length + 1);
    change([...pointer, list.length], (first && emptyOf(first)) ?? null);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be described by what follows it
    <div
      className="rows"
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={describedBy}
    >
      {list.slice(0, shown).map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name than their place
        <div className="row" key={at}>
          <Field
            label={t("forms.item", { number: at + 1 })}
            schema={items}
            pointer={[...pointer, at]}
            value={item}
            part
          />
          <RowButtons
            name={t("forms.itemOf", { number: at + 1, list: label })}
            refusal={refusal}
            onUp={at > 0 ? () => change(pointer, swapped(list, at)) : undefined}
            onRemove={() =>
              change(
                pointer,
                list.filter((_, index) => index !== at),
              )
            }
          />
        </div>
      ))}
      <ShowMore count={list.length} shown={shown} onShow={show} />
      <Button
        icon="add"
        label={t("forms.addTo", { list: label.toLowerCase() })}
        refusal={refusal}
        onClick={add}
      />
    </div>
  );
}

/** Move an item before its predecessor. */
function swapped(list: readonly Json[], at: number): Json[] {
  const copy = [...list];
  const [item] = copy.splice(at, 1);
  if (item !== undefined) copy.splice(at - 1, 0, item);
  return copy;
}

interface RowButtonsProps {
  name: string;
  refusal: string | undefined;
  onUp?: (() => void) | undefined;
  onRemove: () => void;
}

/** The buttons of a row. */
export const RowButtons = ({ name, refusal, onUp, onRemove }: RowButtonsProps) => (
  <span className="row-buttons">
    {onUp && (
      <Button
        bare
        icon="arrow_upward"
        label={t("forms.moveUp", { name })}
        refusal={refusal}
        onClick={onUp}
      />
    )}
    <Button
      bare
      icon="close"
      label={t("forms.remove", { name })}
      refusal={refusal}
      onClick={onRemove}
    />
  </span>
);
