/** The theme, as chosen in the admin (`adminTheme` in localStorage), else as in the system. */
import { browserStorage } from "../shared/storage";

export type Theme = "light" | "dark" | "auto";

const KEY = "adminTheme";
/** The choice that could not be stored; it lasts until the page is closed. */
let unstored: Theme | null = null;
const system = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

/** Apply the theme, and follow changes here, in the admin and in the system. */
export function followTheme(): void {
  system().addEventListener("change", apply);
  addEventListener("storage", apply);
  apply();
}

/** Choose the theme of this browser, including the admin. */
export function chooseTheme(theme: Theme): void {
  const stored = browserStorage.write(KEY, JSON.stringify(theme));
  unstored = stored ? null : theme;
  apply();
}

/** Return the chosen theme; `auto` follows the system. */
export function chosenTheme(): Theme {
  const chosen = unstored ?? browserStorage.readJson(KEY);
  return chosen === "dark" || chosen === "light" ? chosen : "auto";
}

function apply(): void {
  const chosen = chosenTheme();
  const dark = chosen === "dark" || (chosen === "auto" && system().matches);
  document.documentElement.classList.toggle("dark", dark);
}
