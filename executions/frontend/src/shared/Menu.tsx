import { Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Button } from "./Button";
import { Icon } from "./Icon";

export interface MenuItem {
  label: string;
  icon: string;
  /** The reason why the entry is disabled. */
  refusal?: string | undefined;
  /** Whether it is selected, in a group of entries of which one is selected. */
  checked?: boolean;
  /** Whether a line separates it from the entry above. */
  apart?: boolean;
  href?: string;
  onChoose?: () => void;
}

/** A button that opens a menu; the arrow keys move, Enter chooses, and Escape closes. */
export function Menu({ label, icon, items }: { label: string; icon: string; items: MenuItem[] }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useId();
  useEffect(() => {
    if (!open) return;
    choices(root.current)[0]?.focus();
    const outside = (event: PointerEvent): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const close = (): void => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (!open) return;
    if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else if (!walk(event.key, choices(root.current))) return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
  };
  return (
    <div className="menu" ref={root}>
      <Button
        icon={icon}
        label={label}
        bare
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? list : undefined}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <div
          className="menu-list"
          role="menu"
          id={list}
          aria-label={label}
          tabIndex={-1}
          onKeyDown={pressed}
        >
          {items.map((item) => (
            <Fragment key={item.label}>
              {item.apart && <hr />}
              <Choice item={item} onChosen={close} />
            </Fragment>
          ))}
        </div>
      )}
    </div>
  );
}

function Choice({ item, onChosen }: { item: MenuItem; onChosen: () => void }) {
  const inside = (
    <>
      <Icon name={item.icon} />
      <span>{item.label}</span>
      {item.checked && <Icon name="check" />}
    </>
  );
  const looks = {
    role: item.checked === undefined ? "menuitem" : "menuitemradio",
    className: "menu-item",
    tabIndex: -1,
    "aria-checked": item.checked,
  } as const;
  if (item.href !== undefined) {
    return (
      <a {...looks} href={item.href}>
        {inside}
      </a>
    );
  }
  const chosen = (): void => {
    if (item.refusal) return;
    onChosen();
    item.onChoose?.();
  };
  return (
    <button
      {...looks}
      type="button"
      aria-disabled={item.refusal ? true : undefined}
      title={item.refusal}
      onClick={chosen}
    >
      {inside}
    </button>
  );
}

const choices = (root: HTMLElement | null): HTMLElement[] =>
  Array.from(root?.querySelectorAll<HTMLElement>(".menu-item") ?? []);

/** Move the focus for an arrow key, Home or End; return false for other keys. */
function walk(key: string, found: HTMLElement[]): boolean {
  const at = found.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[key];
  if (to === undefined || found.length === 0) return false;
  found.at(to % found.length)?.focus();
  return true;
}
