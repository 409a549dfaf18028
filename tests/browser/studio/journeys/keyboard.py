"""Using a page only by keyboard: tests can use no element that Tab does not reach."""

from playwright.sync_api import Locator, Page, expect

# Tab stops of the whole page, the palette's and the form's among them.
MOST_STOPS = 150


def reach(page: Page, wanted: Locator, key: str = "Tab") -> Locator:
    """Press Tab (or another key) until the element has the focus."""
    expect(wanted).to_be_visible()
    for _ in range(MOST_STOPS):
        if wanted.evaluate("it => it === document.activeElement"):
            return wanted
        page.keyboard.press(key)
    raise AssertionError(f"{wanted} is not reached by {MOST_STOPS} times {key}")


def push(page: Page, button: Locator) -> None:
    """Reach a button and press it."""
    reach(page, button)
    page.keyboard.press("Enter")


def write(page: Page, field: Locator, text: str) -> None:
    """Move to a field and replace its text."""
    reach(page, field)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def choose(page: Page, field: Locator, option: str) -> None:
    """Reach a select and type the beginning of an option."""
    reach(page, field)
    page.keyboard.type(option)
