"""The page that tests share is reset for each test."""

from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage

from tests.browser.one_page import RESTING, SIZE, OnePage

LEFT = """() => ({
  kept: localStorage.length + sessionStorage.length,
  cookies: document.cookie,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  still: matchMedia("(prefers-reduced-motion: reduce)").matches,
  size: { width: innerWidth, height: innerHeight },
  online: navigator.onLine,
})"""


def test_a_page_finds_nothing_that_the_last_test_left(one_page: OnePage, server: str) -> None:
    address = f"{server}{staticfiles_storage.url(RESTING)}"
    with one_page.lent() as page:
        page.goto(address)
        page.evaluate("() => { localStorage.a = 1; sessionStorage.b = 2; document.cookie = 'c=3' }")
        page.emulate_media(color_scheme="dark", reduced_motion="no-preference")
        page.set_viewport_size({"width": 390, "height": 844})
        page.context.new_page().route("**", lambda route: route.abort())
        page.route("**", lambda route: route.abort())
        page.context.route("**", lambda route: route.abort())
        page.context.grant_permissions(["geolocation"])
        page.context.set_offline(True)
    with one_page.lent() as again:
        assert again is page
        assert again.context.pages == [again]
        again.goto(address)
        found: dict[str, Any] = again.evaluate(LEFT)
        may = again.evaluate("() => navigator.permissions.query({ name: 'geolocation' })"
                             ".then((answer) => answer.state)")  # fmt: skip
    assert may != "granted"
    assert found == {
        "kept": 0, "cookies": "", "dark": False, "still": True, "size": SIZE, "online": True,
    }  # fmt: skip
