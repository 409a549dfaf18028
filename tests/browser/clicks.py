"""A page that counts a user's actions, and records clicks that lead nowhere."""

from typing import Any


class Clicks:
    """Counts clicks, keys that select, and typed texts."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.count = 0
        self.dead_ends: list[str] = []
        page.on("response", self._note)

    def _note(self, response: Any) -> None:
        if response.request.resource_type in {"document", "xhr"} and response.status >= 400:
            self.dead_ends.append(f"{response.status} {response.url}")

    def click(self, role: str, name: str, within: Any = None) -> None:
        """Click the visible element with that role and name."""
        found = (within or self.page).get_by_role(role, name=name, exact=True)
        self.press(found.locator("visible=true").first)

    def press(self, element: Any) -> None:
        """Click an element."""
        self.count += 1
        element.click()

    def choose(self, element: Any, label: str) -> None:
        """Choose an option of a select."""
        self.count += 1
        element.select_option(label=label)

    def key(self, name: str) -> None:
        """Press a key."""
        self.count += 1
        self.page.keyboard.press(name)

    def type(self, text: str) -> None:
        """Type a text into the focused element."""
        self.count += 1
        self.page.keyboard.type(text)

    def fill(self, label: str, text: str) -> None:
        """Click a field and type into it: two actions."""
        self.press(self.page.get_by_label(label, exact=True))
        self.page.keyboard.press("Control+a")  # what the field proposes is replaced
        self.type(text)
