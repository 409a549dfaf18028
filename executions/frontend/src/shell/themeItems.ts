import { useState } from "react";
import type { MenuItem } from "../shared/Menu";
import { t } from "../words/t";
import { chooseTheme, chosenTheme, type Theme } from "./theme";

const THEMES: readonly [Theme, string, string][] = [
  ["light", t("shell.light"), "light_mode"],
  ["dark", t("shell.dark"), "dark_mode"],
  ["auto", t("shell.asTheSystem"), "contrast"],
];

/** Return the menu entries for the light, the dark and the system's theme. */
export function useThemeItems(): MenuItem[] {
  const [theme, setTheme] = useState(chosenTheme);
  return THEMES.map(([key, label, icon]) => ({
    label,
    icon,
    checked: theme === key,
    onChoose: () => {
      chooseTheme(key);
      setTheme(key);
    },
  }));
}
