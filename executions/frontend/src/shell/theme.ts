/** Light or dark: as chosen in the admin (`adminTheme` in localStorage), else as the system is. */
export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = (): void => {
    const chosen = chosenTheme();
    const dark = chosen === "dark" || (chosen !== "light" && system.matches);
    document.documentElement.classList.toggle("dark", dark);
  };
  system.addEventListener("change", apply);
  addEventListener("storage", apply);
  apply();
}

function chosenTheme(): string {
  try {
    return String(JSON.parse(localStorage.getItem("adminTheme") ?? '"auto"'));
  } catch {
    return "auto";
  }
}
