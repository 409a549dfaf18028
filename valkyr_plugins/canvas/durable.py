"""`durable(signature)`: a canvas that runs as an execution, started in the caller's transaction.

Importing this module loads no models, because a project's modules import it while apps are loading.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from valkyr_plugins.canvas.conf import ORIGIN
from valkyr_plugins.canvas.results import DurableResult
from valkyr_plugins.canvas.translation import Translated, translate

if TYPE_CHECKING:
    from executions.public.publishing import CodeVersion

Started = TypeVar("Started")

MOST_REMEMBERED = 2_000
# The versions that this process knows, by their slugs, which are derived from their content. A
# version that is published in a transaction is added only after the commit.
_published: "OrderedDict[str, CodeVersion]" = OrderedDict()


class Durable:
    """A canvas that can be started any number of times."""

    def __init__(self, signature: Any) -> None:
        self._translated = translate(signature)

    @property
    def definition(self) -> Mapping[str, Any]:
        """Return the definition of the workflow that runs the canvas.

        Canvases with the same structure share one definition.
        """
        return self._translated.definition

    @property
    def payload(self) -> Mapping[str, Any]:
        """Return the input of the canvas's executions: the arguments of its tasks."""
        return self._translated.payload

    def start(self, key: str | None = None, priority: int | None = None) -> DurableResult:
        """Start an execution, which is committed or rolled back with the caller's transaction.

        If the key was used for an equal canvas, the earlier result is returned. If it was used for
        a canvas with the same structure but other arguments, KeyReused is raised. `priority` is
        from 0 to 9 (most urgent). Raises the errors of `start_from_code`.
        """
        return start(self._translated, key, priority)


def durable(signature: Any) -> Durable:
    """Make a task's signature or a canvas durable.

    Raises UntranslatableError, which names what cannot be translated and what to do.
    """
    return Durable(signature)


def start(translated: Translated, key: str | None, priority: int | None) -> DurableResult:
    """Start an execution of a canvas; publish its workflow unless this process has done so."""
    from executions.public.starting import start_from_code

    handle = _with_version(
        translated,
        lambda version: start_from_code(
            version.workflow_id,
            translated.payload,
            key=key,
            priority=translated.priority if priority is None else priority,
            version_id=version.version_id,
        ),
    )
    return DurableResult(str(handle.id))


def start_many(translated: Translated, payloads: Sequence[Any]) -> list[DurableResult]:
    """Start one execution per payload, at most 1,000; start all or none, with a few statements."""
    from executions.public.starting import start_many_from_code

    handles = _with_version(
        translated,
        lambda version: start_many_from_code(
            version.workflow_id,
            payloads,
            priority=translated.priority,
            version_id=version.version_id,
        ),
    )
    return [DurableResult(str(handle.id)) for handle in handles]


def _with_version(translated: Translated, call: "Callable[[CodeVersion], Started]") -> "Started":
    """Call the function with the canvas's version; publish one if no known version exists."""
    from executions.public.errors import NotFound

    known = _published.get(translated.slug)
    if known is not None:
        try:
            return call(known)
        except NotFound:  # deleted meanwhile, or published in another database, as in tests
            _published.pop(translated.slug, None)
    return call(_publish(translated))


def _publish(translated: Translated) -> "CodeVersion":
    from executions.public.database import transaction
    from executions.public.publishing import publish_from_code
    from executions.public.starting import deadlock_told

    # Publish in the caller's transaction. A separate transaction would not see a workspace that the
    # caller, or a TestCase, has not committed, and would wait for it indefinitely.
    with deadlock_told(f"the canvas {translated.definition['name']}, which it starts first"):
        version = publish_from_code(translated.slug, translated.definition, origin=ORIGIN)
    transaction.on_commit(partial(_remember, translated.slug, version))
    return version


def _remember(slug: str, version: "CodeVersion") -> None:
    _published[slug] = version
    while len(_published) > MOST_REMEMBERED:
        _published.popitem(last=False)
