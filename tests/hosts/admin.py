"""The admin of a project, as a user sees it in a browser without scripts."""

import html
import re

import httpx

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
LINKS = re.compile(r'(?:href|hx-get)="(/[^"]*)"')
OTHERS = ("?", "logout", "/delete", "jsi18n", "/static/", "password")


class Admin:
    """A signed-in user; a page without a success status raises AssertionError."""

    def __init__(self, origin: str, index: str, name: str, password: str) -> None:
        """Sign in; `index` is the path of the admin's first page."""
        self.index = index
        self._browser = httpx.Client(base_url=origin, follow_redirects=True, timeout=120)
        answer = self.post(f"{index}login/?next={index}", username=name, password=password)
        assert "login" not in answer.url.path, answer.text[:2000]

    def get(self, path: str) -> httpx.Response:
        """Return a page."""
        answer = self._browser.get(html.unescape(path))
        assert answer.is_success, f"{path}: {answer.status_code} {answer.text[:2000]}"
        return answer

    def post(self, path: str, **form: str) -> httpx.Response:
        """Submit the form of a page."""
        found = TOKEN.search(self.get(path).text)
        assert found, path
        answer = self._browser.post(path, data=form | {"csrfmiddlewaretoken": found[1]})
        assert answer.is_success, f"{path}: {answer.status_code} {answer.text[:2000]}"
        return answer

    def operation(self, page: str, name: str) -> str:
        """Return the URL of an operation that an object's page offers."""
        found = [link for link in LINKS.findall(self.get(page).text) if f"/{name}" in link]
        assert found, f"{page} offers no {name}"
        return html.unescape(found[0])

    def walk(self, below: str, most: int = 400) -> set[str]:
        """Open the pages that are linked from the first page; return the paths, all of which begin
        with `below`.
        """
        seen: set[str] = set()
        waiting = [self.index]
        while waiting and len(seen) < most:
            path = waiting.pop(0)
            if path in seen:
                continue
            seen.add(path)
            links = LINKS.findall(self.get(path).text)
            astray = [link for link in links if not f"{link}/".startswith(below)]
            assert not astray, f"{path} leads to {astray[:5]}"
            # "View site" links to the script name itself, which is not part of the admin.
            inner = [link for link in links if link.startswith(below)]
            waiting += [link for link in inner if not any(part in link for part in OTHERS)]
        return seen
