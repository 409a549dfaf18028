import { type KeyboardEvent, useState } from "react";
import { type Completion, chosen, complete, type Option } from "../expressions/completing";
import type { Name } from "../expressions/names";
import { announce } from "../shared/announce";
import { t } from "../words/t";

interface Completing {
  found: Completion | null;
  /** Index of the selected option. */
  active: number;
  /** Look for options at a position of a text. */
  look: (text: string, place: number) => void;
  close: () => void;
  choose: (option: Option, text: string) => void;
  /** Return whether the list handled the key. */
  pressed: (event: KeyboardEvent, text: string) => boolean;
}

/** The completion list at the cursor, and its keyboard handling. */
export function useCompletion(
  names: (() => readonly Name[]) | null,
  edit: (text: string, place: number) => void,
): Completing {
  const [found, setFound] = useState<Completion | null>(null);
  const [active, setActive] = useState(0);
  const close = (): void => setFound(null);
  const look = (text: string, place: number): void => {
    const next = names ? complete(text, place, names()) : null;
    if (next && !found) announce(t("forms.suggestionCount", { count: next.options.length }));
    setFound(next);
    setActive(0);
  };
  const choose = (option: Option, text: string): void => {
    if (!found) return;
    const edited = chosen(text, found, option);
    edit(edited.text, edited.place);
    close();
  };
  const pressed = (event: KeyboardEvent, text: string): boolean => {
    if (!found) return false;
    const option = found.options[active];
    const count = found.options.length;
    if (event.key === "ArrowDown") setActive((active + 1) % count);
    else if (event.key === "ArrowUp") setActive((active + count - 1) % count);
    else if ((event.key === "Enter" || event.key === "Tab") && option) choose(option, text);
    else if (event.key === "Escape") close();
    else {
      if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) close();
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { found, active, look, close, choose, pressed };
}
