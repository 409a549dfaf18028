import { type DragEvent, memo } from "react";
import { Icon } from "../shared/Icon";

/** The MIME type of dragged items; their data is the module type's name, or `note`. */
export const DRAGGED = "application/x-valkyr-module";

interface Props {
  /** The module type's name, or `note`. */
  value: string;
  title: string;
  icon: string;
  /** The first sentence of its description, for screen readers. */
  says: string;
  /** Whether it is the one item in the tab order. */
  current: boolean;
  disabled: boolean;
  onAdd: (value: string) => void;
  onShow: (value: string) => void;
}

/** An item to add: after the selection by a click or Enter, or where it is dropped. */
export const ModuleButton = memo(function ModuleButton(props: Props) {
  const { value, title, icon, says, current, disabled, onAdd, onShow } = props;
  const dragged = (event: DragEvent): void => {
    event.dataTransfer.setData(DRAGGED, value);
    event.dataTransfer.effectAllowed = "copy";
  };
  return (
    <button
      type="button"
      className="palette-item"
      data-module={value}
      draggable={!disabled}
      tabIndex={current ? 0 : -1}
      aria-description={says}
      aria-disabled={disabled || undefined}
      onDragStart={dragged}
      onClick={disabled ? undefined : () => onAdd(value)}
      onFocus={() => onShow(value)}
      onPointerEnter={() => onShow(value)}
    >
      <Icon name={icon} />
      <span>{title}</span>
    </button>
  );
});
