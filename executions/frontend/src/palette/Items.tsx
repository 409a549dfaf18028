import { type KeyboardEvent, useRef, useState } from "react";
import type { ModuleType } from "../api/shapes";
import { firstSentence } from "../forms/labels";
import { Button } from "../shared/Button";
import { iconOf } from "../shared/moduleIcon";
import { t } from "../words/t";
import { ModuleButton } from "./ModuleButton";

export interface Item {
  value: string;
  title: string;
  icon: string;
  says: string;
}

export interface Section {
  title: string;
  items: Item[];
}

export const NOTE = "note";
export const NOTE_ITEM: Item = {
  value: NOTE,
  title: t("palette.note"),
  icon: "sticky_note_2",
  says: t("palette.aTextOnTheCanvas"),
};

export const itemOf = (type: ModuleType): Item => ({
  value: type.type,
  title: type.title,
  icon: iconOf(type),
  says: firstSentence(type.description),
});

interface Props {
  sections: readonly Section[];
  query: string;
  disabled: boolean;
  onAdd: (value: string) => void;
  onShow: (value: string) => void;
  /** Called when the user moves up from the first item. */
  onLeave: () => void;
  onClear: () => void;
}

/** The items under their headings. Only one item is in the tab order; the arrow keys reach all. */
export function Items({ sections, query, disabled, onAdd, onShow, onLeave, onClear }: Props) {
  const [at, setAt] = useState("");
  const root = useRef<HTMLDivElement>(null);
  const keys = sections.flatMap((section) => section.items.map((item) => keyOf(section, item)));
  const current = keys.includes(at) ? at : keys[0];
  const walked = (event: KeyboardEvent): void => {
    const all = itemsIn(root.current);
    const index = all.indexOf(event.target as HTMLElement);
    const step = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 };
    const to = step[event.key as keyof typeof step];
    if (to === undefined) return;
    event.preventDefault();
    if (to < 0) onLeave();
    else all[to]?.focus();
  };
  if (sections.length === 0) {
    return (
      <div className="palette-items">
        <p className="palette-none" role="status">
          {t("palette.noModuleFits", { text: query.trim() })}
        </p>
        <Button icon="close" label={t("palette.clearTheSearch")} onClick={onClear} />
      </div>
    );
  }
  return (
    <div className="palette-items" ref={root}>
      {sections.map((section) => (
        <div key={section.title}>
          <h2>{section.title}</h2>
          <ul aria-label={section.title} onKeyDown={walked}>
            {section.items.map((item) => (
              <li key={item.value} onFocus={() => setAt(keyOf(section, item))}>
                <ModuleButton
                  {...item}
                  current={keyOf(section, item) === current}
                  disabled={disabled}
                  onAdd={onAdd}
                  onShow={onShow}
                />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

const keyOf = (section: Section, item: Item): string => `${section.title}/${item.value}`;

const itemsIn = (root: HTMLElement | null): HTMLElement[] =>
  Array.from(root?.querySelectorAll<HTMLElement>(".palette-item") ?? []);
