"""Buttons of an object's page in the admin: the first two are visible, the others are in a menu."""

from typing import Any


def page_action(page: Any, title: str, *, exact: bool = False) -> Any:
    """Return the button with this title; open the menu first if the button is in it."""
    button = page.get_by_role("link", name=title, exact=exact).locator("visible=true")
    menu = page.get_by_role("button", name="More", exact=True).locator("visible=true")
    button.or_(menu).first.wait_for()
    if button.count() == 0:
        menu.click()
    return button.first
