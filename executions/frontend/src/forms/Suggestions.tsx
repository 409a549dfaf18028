import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Option } from "../expressions/completing";
import { t } from "../words/t";

interface Props {
  id: string;
  /** The field that the list completes. */
  anchor: RefObject<HTMLElement | null>;
  options: readonly Option[];
  active: number;
  onChoose: (option: Option) => void;
  onClose: () => void;
}

const HEIGHT = 260;

/** The options below a field, or above it if there is no room; the field keeps the focus. */
export function Suggestions({ id, anchor, options, active, onChoose, onClose }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const [style, setStyle] = useState<{ [key: string]: number }>({ top: 0, left: 0 });
  useLayoutEffect(() => setStyle(placeBy(anchor.current)), [anchor]);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  useEffect(() => {
    // The list has a fixed position, so close it if the page scrolls.
    const moved = (event: Event): void => {
      if (event.target !== list.current && event.target !== anchor.current) onClose();
    };
    addEventListener("scroll", moved, true);
    return () => removeEventListener("scroll", moved, true);
  });
  return (
    <div
      ref={list}
      id={id}
      className="suggestions"
      role="listbox"
      aria-label={t("forms.suggestions")}
      style={{ ...style, maxHeight: HEIGHT }}
    >
      {options.map((option, at) => (
        <div
          key={option.insert}
          id={`${id}-${at}`}
          className="suggestion"
          role="option"
          tabIndex={-1}
          aria-selected={at === active}
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(option);
          }}
        >
          <code>{option.label}</code>
          <span className="seen">{option.seen}</span>
          <small>{option.about}</small>
        </div>
      ))}
    </div>
  );
}

function placeBy(field: HTMLElement | null): { [key: string]: number } {
  const box = field?.getBoundingClientRect();
  if (!box) return {};
  const width = Math.max(box.width, 280);
  const left = Math.max(8, Math.min(box.left, innerWidth - width - 8));
  const below = innerHeight - box.bottom > HEIGHT || box.top < HEIGHT;
  return below
    ? { left, width, top: box.bottom + 2 }
    : { left, width, bottom: innerHeight - box.top + 2 };
}
