"""docs/reference/python-api.md equals the code."""

from django.core.management import call_command

from valkyr_plugins.python_workflows import names, reference


def test_the_page_is_what_the_command_writes() -> None:
    call_command("describe_python_api", check=True)


def test_every_public_name_stands_on_the_page_once() -> None:
    grouped = [name for group in reference.GROUPS.values() for name in group]

    assert sorted(grouped) == sorted(names.__all__)
    text = reference.page()
    assert [name for name in grouped if f"### {name}\n" not in text] == []


def test_an_entry_has_signature_and_meaning() -> None:
    text = reference.page()

    assert "approve(\n    title: str,\n    *,\n    within: Span | None = None," in text
    assert "with otherwise()" in text
    assert "    outcomes: tuple[str, ...] = ()," in text
    assert "By default, the steps after this call run only if the approval is given." in text
