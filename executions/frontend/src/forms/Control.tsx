import type { Json } from "../document/types";
import { useFrame } from "./frame";
import { JsonField } from "./JsonField";
import type { Shape } from "./kinds";
import { ListField } from "./ListField";
import { MapField } from "./MapField";
import type { Mode } from "./modes";
import { ObjectField } from "./ObjectField";
import type { Pointer } from "./pointer";
import { ChoiceField, NumberField, TextField, YesNoField } from "./scalars";

export interface ControlProps {
  id: string;
  label: string;
  mode: Mode;
  shape: Shape;
  pointer: Pointer;
  value: Json | undefined;
  /** The value of a field that the user empties. */
  nothing: null | undefined;
  describedBy: string;
  invalid: boolean;
  required: boolean;
}

/** The control for a value, according to the mode. */
export function Control(props: ControlProps) {
  const { mode, pointer, value } = props;
  const { change } = useFrame();
  if (mode === "json") {
    return (
      <JsonField
        id={props.id}
        value={value ?? undefined}
        describedBy={props.describedBy}
        onChange={(next) => change(pointer, next ?? props.nothing)}
      />
    );
  }
  if (mode === "expression") return <TextField {...props} />;
  switch (mode.is) {
    case "text":
      return <TextField {...props} />;
    case "number":
      return <NumberField {...props} />;
    case "yesno":
      return <YesNoField {...props} />;
    case "choice":
      return <ChoiceField {...props} options={mode.options} />;
    case "list":
      return <ListField {...props} items={mode.items} />;
    case "map":
      return <MapField {...props} values={mode.values} />;
    default:
      return <ObjectField {...props} properties={mode.properties} />;
  }
}
