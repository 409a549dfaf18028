import { type ButtonHTMLAttributes, useId } from "react";
import { Icon } from "./Icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: string;
  /** The text; with `bare`, only the accessible name and the tooltip. */
  label: string;
  bare?: boolean;
  /** The reason why the button is disabled; it remains in the tab order and explains this. */
  refusal?: string | undefined;
  strong?: boolean;
}

/** A button that, if it is disabled, stays visible and says why. */
export function Button({ icon, label, bare, refusal, strong, onClick, className, ...rest }: Props) {
  const why = useId();
  return (
    <>
      <button
        type="button"
        className={["button", strong ? "strong" : "", bare ? "bare" : "", className ?? ""].join(
          " ",
        )}
        aria-label={bare ? label : undefined}
        title={refusal ?? (bare ? label : rest.title)}
        aria-disabled={refusal ? true : undefined}
        aria-describedby={refusal ? why : undefined}
        {...rest}
        onClick={refusal ? undefined : onClick}
      >
        {icon && <Icon name={icon} />}
        {!bare && <span className="label">{label}</span>}
      </button>
      {refusal && (
        <span id={why} className="unseen">
          {refusal}
        </span>
      )}
    </>
  );
}
