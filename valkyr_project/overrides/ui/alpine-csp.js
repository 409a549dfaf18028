// Unfold's x-data attributes call global functions, but Alpine's CSP build only knows registered
// components.
document.addEventListener("alpine:init", () => {
  // Remove the classes that first-sight.js set: Alpine sets its own at once, and can remove only
  // these.
  document.documentElement.classList.remove("dark", "vk-wide");
  // For elements that are created after htmx has processed the page.
  Alpine.directive("htmx", (element) => htmx.process(element));
  for (const name of ["theme", "searchForm", "searchDropdown", "searchCommand"]) {
    if (typeof window[name] === "function") Alpine.data(name, window[name]);
  }
  // A row's menu, created when its button is reached. Find the template now, because later updates
  // of the rows remove it.
  const menu = document.getElementById("vk-row-menu");
  Alpine.data("rowMenu", () => ({
    isOpen: false,
    make() {
      const place = this.$root.querySelector("[data-menu]");
      if (!menu || place.hasChildNodes()) return;
      place.innerHTML = menu.innerHTML.replaceAll("vk-row", encodeURIComponent(this.$root.dataset.pk));
    },
  }));
  // A browser that blocks its storage shows the side bar on each page.
  const SIDEBAR = "sidebarDesktopOpen";
  const sidebarOpen = () => {
    try {
      return localStorage.getItem(SIDEBAR) !== "0";
    } catch {
      return true;
    }
  };
  const keepSidebar = (open) => {
    try {
      localStorage.setItem(SIDEBAR, open ? "1" : "0");
    } catch {
      // The storage is full or blocked.
    }
  };
  Alpine.data("unfoldBody", () => ({
    activeTab: "general",
    sidebarMobileOpen: false,
    sidebarDesktopOpen: sidebarOpen(),
    // change_form.html uses window.location in the form's action.
    get window() {
      return { location: { pathname: location.pathname, search: location.search } };
    },
    init() {
      const current = typeof getCurrentTab === "function" ? getCurrentTab() : null;
      this.activeTab = current || this.$el.dataset.tab || "general";
      this.$watch(SIDEBAR, keepSidebar);
    },
  }));
});
