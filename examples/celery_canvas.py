"""Five canvases as people write them; `durable(...)` in front is all that makes them durable.

In a project these tasks are in its apps. To try them with `make up`, let the workers import this
file: `VALKYR_EXTRA_MODULES=examples.celery_canvas make up`. Then, in another terminal, open a shell
on that stack with `.venv/bin/python -m valkyr_project.up.shell shell`, and type:

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
    """Where a picture is, as its store says."""
    return {"id": picture, "path": f"pictures/{picture}.jpg"}


@shared_task
def resize(picture: dict[str, Any], width: int) -> str:
    """The path of a picture of that width."""
    return f"{picture['path'].removesuffix('.jpg')}-{width}.jpg"


@shared_task
def publish(paths: list[str]) -> int:
    """How many pictures are public now."""
    return len(paths)


@shared_task
def reserve(order: int) -> int:
    """Take an order's lines from the stock."""
    return order


class BusyError(Exception):
    """The bank asks to come back later."""


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
    """Ship what was paid."""
    return f"{receipt} by {carrier}"


@shared_task
def tell_support(request: Any, exc: BaseException, traceback: Any) -> None:
    """Open a ticket for what failed."""
    print(f"{request.task} failed: {exc}")


@shared_task
def count_words(text: str) -> int:
    """How many words a text has."""
    return len(text.split())


@shared_task
def summarise(counts: list[int], title: str) -> str:
    """One line for a report."""
    return f"{title}: {sum(counts)} words in {len(counts)} texts"


@shared_task
def send_mail(address: str, letter: str) -> str:
    """Send a letter to an address."""
    return f"{letter} to {address}"


@shared_task
def download(country: str) -> list[int]:
    """The prices of a country."""
    return {"de": [3, 4], "fr": [5], "ch": []}[country]


@shared_task
def convert(prices: list[int], rate: float) -> float:
    """Their sum in another currency."""
    return sum(prices) * rate


@shared_task
def store(sums: list[float]) -> float:
    """Keep what all countries come to."""
    return sum(sums)


@shared_task(base=DurableTask)
def send_invoice(order: int, copies: int = 1) -> str:
    """A task whose every `delay()` is durable."""
    return f"invoice {order} x{copies}"


# ---- the canvases


def thumbnails() -> Any:
    """One after another, several at once, and all together again."""
    return chain(fetch.s(7), group(resize.s(width) for width in (100, 500)), publish.s())


def order() -> Any:
    """A pipe whose second task retries by itself, with somebody told of what fails for good."""
    return (reserve.s(7) | charge.s(currency="EUR") | ship.s(carrier="post")).on_error(
        tell_support.s()
    )


def report() -> Any:
    """A header of any number of tasks, and a body that gets all results."""
    texts = ("one two three", "four", "five six")
    return chord((count_words.s(text) for text in texts), summarise.s(title="Monday"))


def newsletter() -> Any:
    """Many calls of one task, a few at a time."""
    return send_mail.chunks([(f"{name}@example.org", "news") for name in "abcdefg"], 3)


def prices() -> Any:
    """A chord of chains, begun after a moment."""
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
