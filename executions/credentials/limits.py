"""What a boundary's lists may hold, and the problems of those that somebody gives. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

from executions.credentials.boundary import ANY, host_pattern, module_pattern
from executions.definition.graph.problem import DefinitionProblem

MOST = 100
LISTS = ("hosts", "modules", "workflows")
NO_HOSTS = (
    "Name the hosts that this credential may go to, such as "
    '["api.example.com"] or ["*.example.com"]; ["*"] is any host.'
)


class CredentialLimits(TypedDict, total=False):
    """Where a credential may go; what is left out is suggested, or stays."""

    hosts: Sequence[str] | None
    modules: Sequence[str] | None
    workflows: Sequence[str] | None
    remote: bool


def problems_of(given: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Every problem of the lists that are given; those left out have none."""
    for name in LISTS:
        if given.get(name) is not None:
            yield from _of_list(name, given[name])


def stored(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Sound lists as they are kept: in one writing, each entry once, `*` alone."""
    return {name: _plain(name, given[name]) for name in LISTS if given.get(name) is not None}


def _of_list(name: str, given: Any) -> Iterator[DefinitionProblem]:
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
        yield DefinitionProblem(
            name, "not_a_list", f"Expected a list of texts; {ANY!r} in it is any."
        )
        return
    if name == "hosts" and not given:
        yield DefinitionProblem(name, "required", NO_HOSTS)
        return
    if not 1 <= len(given) <= MOST:
        message = f'Give 1 to {MOST} entries; found {len(given)}. ["*"] is any.'
        yield DefinitionProblem(name, "count", message)
        return
    for index, text in enumerate(given):
        try:
            _CHECKS[name](text.strip())
        except ValueError as error:
            yield DefinitionProblem(f"{name}[{index}]", "bad_entry", str(error))


def _plain(name: str, given: Any) -> list[str]:
    texts = [text.strip() for text in given]
    if ANY in texts:
        return [ANY]
    if name == "hosts":
        texts = [text.lower() for text in texts]
    elif name == "workflows":
        texts = [str(UUID(text)) for text in texts]
    return sorted(set(texts))


def _host(text: str) -> None:
    if text != ANY:
        host_pattern(text)


def _workflow(text: str) -> None:
    if text == ANY:
        return
    try:
        UUID(text)
    except ValueError:
        raise ValueError(
            f"{text[:100]!r} is no workflow's id; write its id, or * for any workflow"
        ) from None


_CHECKS: Mapping[str, Callable[[str], Any]] = {
    "hosts": _host,
    "modules": module_pattern,
    "workflows": _workflow,
}
