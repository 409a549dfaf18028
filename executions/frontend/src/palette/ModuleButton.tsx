import { type DragEvent, memo } from "react";
import { Icon } from "../shared/Icon";

/** What a dragged item carries: the module type's name, or `note`. */
export const DRAGGED = "application/x-valkyr-module";

interface Props {
  /** The module type's name, or `note`. */
  value: string;
  title: string;
  icon: string;
  /** Its first sentence, for who hears the page. */
  says: string;
  /** The one item that Tab comes to. */
  current: boolean;
  disabled: boolean;
  onAdd: (value: string) => void;
  onShow: (value: string) => void;
}

/** A thing to add: by click or Enter behind what is selected, by dragging where it is dropped. */
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
