"""The modules of a definition that `valkyr doctor` looks for."""

from valkyr.cli.doctor import _used


def test_modules_of_chains_undo_steps_and_bodies_are_found() -> None:
    chain = {"modules": [{"id": "a", "use": "shop.pay"}, {"id": "b", "use": "shop.pack"}]}
    undone = {"id": "t", "use": "shop.book", "undo": {"use": "shop.cancel"}}
    body = {"id": "m", "use": "flow.map", "body": {"tasks": [{"id": "i", "use": "shop.each"}]}}
    told = {"id": "n", "use": "data.template", "with": {"use": "no.module"}}

    assert _used({"tasks": [chain, undone, body, told]}) == {
        "shop.pay", "shop.pack", "shop.book", "shop.cancel", "flow.map", "shop.each",
        "data.template",
    }  # fmt: skip
