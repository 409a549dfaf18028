import { type ButtonHTMLAttributes, useId } from "react";
import { Icon } from "./Icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: string;
  /** The words; with `bare` they are the accessible name alone. */
  label: string;
  bare?: boolean;
  /** Why it cannot be pressed now; it then stays in the tab order and says so. */
  refusal?: string | undefined;
  strong?: boolean;
}

/** A button that, where it cannot be pressed, says why instead of vanishing. */
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
