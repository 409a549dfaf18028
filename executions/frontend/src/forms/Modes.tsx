import type { Json } from "../document/types";
import { Button } from "../shared/Button";
import { t } from "../words/t";
import { useFrame } from "./frame";
import { type Kind, wordOf } from "./kinds";
import { converted, type Mode, structured } from "./modes";
import type { Pointer } from "./pointer";

interface Props {
  kinds: readonly Kind[];
  mode: Mode;
  label: string;
  pointer: Pointer;
  value: Json | undefined;
  /** The value for "nothing": null in a list, whose items cannot be left out. */
  nothing: null | undefined;
  onMode: (mode: Mode) => void;
}

/** The buttons that change how a value is shown. */
export function Modes(props: Props) {
  const { kinds, mode, label, pointer, value, nothing, onMode } = props;
  const { names, textOnly, change, refusal } = useFrame();
  if (refusal) return null;
  const go = (next: Mode): void => {
    onMode(next);
    const now = converted(value, next) ?? nothing;
    if (now !== value) change(pointer, now);
  };
  const nested = typeof mode === "object" ? structured(mode) : mode === "json";
  const plain = kinds.find(structured) ?? kinds[0] ?? "json";
  return (
    <span className="modes">
      {kinds.length > 1 && <KindSelect {...{ kinds, mode, label, go }} />}
      {nested && kinds.some(structured) && (
        <Toggle
          icon="data_object"
          label={t("forms.asJson", { label })}
          on={mode === "json"}
          onClick={() => onMode(mode === "json" ? plain : "json")}
        />
      )}
      {names !== null && !textOnly && !kinds.some((one) => one.is === "text") && (
        <Toggle
          icon="function"
          label={t("forms.byAnExpression", { label })}
          on={mode === "expression"}
          onClick={() => go(mode === "expression" ? (kinds[0] ?? "json") : "expression")}
        />
      )}
    </span>
  );
}

interface SelectProps {
  kinds: readonly Kind[];
  mode: Mode;
  label: string;
  go: (mode: Mode) => void;
}

function KindSelect({ kinds, mode, label, go }: SelectProps) {
  const written = JSON.stringify(mode);
  const at = kinds.findIndex((one) => JSON.stringify(one) === written);
  return (
    <select
      className="kind"
      aria-label={t("forms.kindOf", { label })}
      value={at}
      onChange={(event) => go(kinds[Number(event.currentTarget.value)] ?? "json")}
    >
      {at < 0 && <option value={-1}>{mode === "json" ? "JSON" : t("forms.expression")}</option>}
      {kinds.map((one, index) => (
        <option key={JSON.stringify(one)} value={index}>
          {wordOf(one)}
        </option>
      ))}
    </select>
  );
}

interface ToggleProps {
  icon: string;
  label: string;
  on: boolean;
  onClick: () => void;
}

const Toggle = ({ icon, label, on, onClick }: ToggleProps) => (
  <Button bare className="toggle" icon={icon} label={label} aria-pressed={on} onClick={onClick} />
);
