"""Five ordinary canvases; `durable(...)` alone makes them durable.

In a project these tasks are in its apps. To try them with `make up`, let the workers import this
file: `VALKYR_EXTRA_MODULES=examples.celery_canvas make up`. Then, in another terminal, open a shell
on that stack with `.venv/bin/python manage.py shell`, and type:

    from examples.celery_canvas import run
    run()
"""

from collections.abc import Callable
from typing import Any

from celery import Task, chain, chord, group, shared_task

from valkyr import DurableTask, durable

# ---- the tasks


@shared_task
def fetch(picture: int) -> dict[str, Any]:
    """Return where a picture is stored."""
    return {"id": picture, "path": f"pictures/{picture}.jpg"}


@shared_task
def resize(picture: dict[str, Any], width: int) -> str:
    """Return the path of a picture of that width."""
    return f"{picture['path'].removesuffix('.jpg')}-{width}.jpg"


@shared_task
def publish(paths: list[str]) -> int:
    """Publish the pictures; return how many."""
    return len(paths)


@shared_task
def reserve(order: int) -> int:
    """Reserve an order's items in the stock."""
    return order


class BusyError(Exception):
    """The bank is busy; call again later."""


@shared_task(
    bind=True, autoretry_for=(BusyError,), retry_backoff=0.1, retry_jitter=False, max_retries=5
)
def charge(self: "Task[Any, Any]", order: int, currency: str = "EUR") -> str:
    """Charge a card; the bank is busy at first."""
    if self.request.retries < 2:
        raise BusyError
    return f"{order}-{currency}"


@shared_task
def ship(receipt: str, carrier: str) -> str:
    """Ship a paid order."""
    return f"{receipt} by {carrier}"


@shared_task
def tell_support(request: Any, exc: BaseException, traceback: Any) -> None:
    """Open a ticket for what failed."""
    print(f"{request.task} failed: {exc}")


@shared_task
def count_words(text: str) -> int:
    """Return how many words a text has."""
    return len(text.split())


@shared_task
def summarise(counts: list[int], title: str) -> str:
    """Return one line for a report."""
    return f"{title}: {sum(counts)} words in {len(counts)} texts"


@shared_task
def send_mail(address: str, letter: str) -> str:
    """Send a letter to an address."""
    return f"{letter} to {address}"


@shared_task
def download(country: str) -> list[int]:
    """Return the prices of a country."""
    return {"de": [3, 4], "fr": [5], "ch": []}[country]


@shared_task
def convert(prices: list[int], rate: float) -> float:
    """Return the sum in another currency."""
    return sum(prices) * rate


@shared_task
def store(sums: list[float]) -> float:
    """Store the sum of each country."""
    return sum(sums)


@shared_task(base=DurableTask)
def send_invoice(order: int, copies: int = 1) -> str:
    """Send an invoice; every `delay()` of this task is durable."""
    return f"invoice {order} x{copies}"


# ---- the canvases


def thumbnails() -> Any:
    """Return a chain with a group in the middle: one task, several in parallel, one again."""
    return chain(fetch.s(7), group(resize.s(width) for width in (100, 500)), publish.s())


def order() -> Any:
    """Return a chain whose second task retries itself, with an errback for permanent failures."""
    return (reserve.s(7) | charge.s(currency="EUR") | ship.s(carrier="post")).on_error(
        tell_support.s()
    )


def report() -> Any:
    """Return a chord: a header of any number of tasks, and a body that gets all results."""
    texts = ("one two three", "four", "five six")
    return chord((count_words.s(text) for text in texts), summarise.s(title="Monday"))


def newsletter() -> Any:
    """Return many calls of one task, in chunks."""
    return send_mail.chunks([(f"{name}@example.org", "news") for name in "abcdefg"], 3)


def prices() -> Any:
    """Return a chord of chains with a countdown."""
    countries = ("de", "fr", "ch")
    header = [chain(download.s(country), convert.s(1.5)) for country in countries]
    return chord(header, store.s()).set(countdown=0.5)


CANVASES: dict[str, Callable[[], Any]] = {
    "thumbnails": thumbnails,
    "order": order,
    "report": report,
    "newsletter": newsletter,
    "prices": prices,
}


def run(seconds: float = 30) -> dict[str, Any]:
    """Start all five, then wait for each."""
    started = {name: durable(make()).start() for name, make in CANVASES.items()}
    return {name: result.get(timeout=seconds) for name, result in started.items()}
