// Pages are shown before Alpine has processed them (home.css). This script applies what Alpine
// would change at once: the theme, and whether the side bar is hidden.
{
  const { classList } = document.documentElement;
  const stored = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // The browser blocks its storage.
    }
  };
  const theme = (stored("adminTheme") || "auto").replaceAll('"', "");
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  if (theme === "dark" || (theme === "auto" && isDark)) classList.add("dark");
  if (stored("sidebarDesktopOpen") === "0") classList.add("vk-wide");
}
