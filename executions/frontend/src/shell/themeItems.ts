import { useState } from "react";
import type { MenuItem } from "../shared/Menu";
import { chooseTheme, chosenTheme, type Theme } from "./theme";

const THEMES: readonly [Theme, string, string][] = [
  ["light", "Light", "light_mode"],
  ["dark", "Dark", "dark_mode"],
  ["auto", "As the system", "contrast"],
];

/** Light, dark or as the system is, as entries of a menu. */
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
