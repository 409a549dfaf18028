"""No payload forges a secret, and no surrounding text hides one."""

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from executions.definition.templates import compile_template
from executions.definition.templating.secrets import REFERENCES, reveal
from runners.secrets.scrubbing import SHORTEST, Scrubber

RELAXED = settings(max_examples=150, deadline=None)
NAME = "[secret:key]"
VALUES = {("key", "value"): "the value", ("shop", "password"): "the password"}
WRITTEN = {
    "{{ secrets.key }}": (NAME, "the value"),
    "{{ secrets.shop.password }}": ("[secret:shop.password]", "the password"),
}
texts = st.text(st.characters(exclude_categories=["C"]), max_size=12)
# Values that imitate a secret, or try to reveal one.
cunning = st.sampled_from([NAME, "[secret:shop.password]", "{{ secrets.key }}", "the value", ""])
payloads = st.lists(texts | cunning, min_size=1, max_size=4)
pieces = st.lists(
    st.sampled_from([*WRITTEN, *(f"{{{{ input[{i}] }}}}" for i in range(4))]) | texts,
    min_size=1,
    max_size=6,
)


@RELAXED
@given(pieces, payloads)
def test_values_stand_exactly_where_the_template_names_them(
    parts: list[str], payload: list[str]
) -> None:
    parts = [part for part in parts if part in WRITTEN or "input[" in part or "{" not in part]
    payload = payload + [""] * (4 - len(payload))
    sources = {f"{{{{ input[{i}] }}}}": (text, text) for i, text in enumerate(payload)} | WRITTEN
    references, values = (
        "".join(sources.get(part, (part, part))[which] for part in parts) for which in (0, 1)
    )
    template = compile_template({"deep": ["".join(parts)]})
    scope = {"input": payload, "secrets": REFERENCES}

    rendered = template.render(scope)
    revealed, left = reveal(template.sealed, rendered, scope, VALUES)

    assert (rendered, left) == ({"deep": [references]}, [])
    assert revealed == {"deep": [values]}


def base64_within(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def within(write: Callable[[str], str]) -> Callable[[str], str]:
    """Return the form without its surrounding quotes; the secret's own quotes stay."""
    return lambda text: write(text)[1:-1]


FORMS: list[Callable[[str], str]] = [
    str,
    lambda text: quote(text, safe=""),
    quote,
    quote_plus,
    within(json.dumps),
    within(lambda text: json.dumps(text, ensure_ascii=False)),
    within(lambda text: json.dumps(json.dumps(text))),
    within(repr),
    html.escape,
    lambda text: repr(text.encode())[2:-1],
    lambda text: quote(json.dumps(text)),
    base64_within,
    lambda text: text.encode().hex(),
]
secrets = st.text(st.characters(exclude_categories=["C"]), min_size=SHORTEST, max_size=40)


@RELAXED
@given(secrets, texts, texts, st.sampled_from(FORMS))
def test_a_secret_in_any_form_and_any_surroundings_is_gone(
    secret: str, before: str, after: str, form: Callable[[str], str]
) -> None:
    # A reference that contains the value, or letters of it, could form it again.
    assume(not any(part in NAME for part in (secret, secret[:3], secret[-3:])))
    shown = form(secret)

    scrubbed = Scrubber({secret: NAME}).text(f"{before}{shown}{after}")

    assert NAME in scrubbed
    assert secret not in scrubbed
    assert shown not in scrubbed


@RELAXED
@given(st.text("abcdefgh0123456789-_.~", min_size=SHORTEST, max_size=40), texts, texts)
def test_a_secret_inside_any_base64_text_cannot_be_decoded(
    secret: str, before: str, after: str
) -> None:
    encoded = base64_within(f"{before}{secret}{after}")

    scrubbed = Scrubber({secret: NAME}).text(encoded)

    assert NAME in scrubbed
    for rest in scrubbed.split(NAME):
        for offset in range(4):
            part = rest[offset:].rstrip("=")
            decoded = base64.b64decode(part[: len(part) // 4 * 4])
            assert secret.encode() not in decoded


@RELAXED
@given(secrets, st.recursive(texts | st.integers() | st.none() | st.booleans(), st.lists))
def test_what_holds_no_secret_stays_as_it_is(secret: str, value: object) -> None:
    assume(secret[:3] not in json.dumps(value, ensure_ascii=False))
    scrub = Scrubber({secret: NAME})
    assume(scrub.text(json.dumps(value)) == json.dumps(value))

    assert scrub.value(value) == value
