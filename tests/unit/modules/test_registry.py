"""The registry finds built-in and third-party modules, and survives broken ones."""

import os
import subprocess
import sys
from importlib import metadata

import pytest

from runners.modules.base import Module, ModuleInputs, Result
from runners.modules.declared import declared
from runners.modules.registry import Registry, UnknownModule

GOOD = """
from runners.modules.base import Module, ModuleInputs, Result
from runners.modules.flow import Noop  # imported, so not declared here
from runners.modules.registry import step

class Greet(Module):
    '''Greets.'''
    type = "acme.greet"
    title = "Greet"
    category = "custom"
    Inputs = ModuleInputs
    def execute(self, inputs, ctx):
        return Result("hello")

@step("acme.double")
def double(n: int) -> int:
    return 2 * n
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes importable files; forget them after the test."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)

    return write


@pytest.fixture
def entry_point(monkeypatch):
    """Return a function that pretends that an installed package names these entry points."""

    def install(**targets):
        found = [
            metadata.EntryPoint(name.replace("__", "."), target, "valkyr.modules")
            for name, target in targets.items()
        ]
        monkeypatch.setattr(
            "runners.modules.registry.entry_points",
            lambda *, group: found if group == "valkyr.modules" else [],
        )

    return install


def test_every_built_in_module_loads_and_describes_itself():
    specs = Registry().specs()

    assert specs.keys() >= declared().keys()
    for name in declared():
        spec = specs[name]
        assert spec.type == name
        assert all((spec.title, spec.description, spec.category))
        assert spec.effect in {"none", "idempotent", "external"}
        assert spec.queue in {"default", "io", "remote"}
        assert spec.inputs_schema["additionalProperties"] is (name == "remote.step")
        for key, field in spec.inputs_schema["properties"].items():
            assert field["description"], f"{name}.{key}"


def test_specs_are_worked_out_once():
    registry = Registry()

    assert registry.specs() is registry.specs()


def test_an_unknown_module_is_named():
    with pytest.raises(UnknownModule, match=r"no module of type 'acme\.none' is installed"):
        Registry().get("acme.none")


def test_modules_of_the_environment_are_found(package, monkeypatch, step_context):
    package("acme_good", GOOD)
    monkeypatch.setenv("VALKYR_EXTRA_MODULES", " acme_good ,")
    registry = Registry()

    assert registry.get("acme.greet").run({}, step_context) == Result("hello")
    assert registry.get("acme.double").run({"n": 4}, step_context) == Result(8)
    assert registry.specs().keys() - declared().keys() == {"acme.greet", "acme.double"}


def test_modules_of_entry_points_are_found(package, entry_point):
    package("acme_good", GOOD)
    entry_point(acme__greet="acme_good:Greet", acme__double="acme_good:double")
    registry = Registry()

    assert registry.get("acme.greet").description == "Greets."
    assert registry.get("acme.double").title == "Double"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import acme_is_not_installed", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("def", "SyntaxError"),
        ("x = 1", "AttributeError"),
        ("Greet = 3", "TypeError"),
    ],
)
def test_a_broken_entry_point_is_named_when_used_and_harms_no_other(
    package, entry_point, caplog, text, reason
):
    package("acme_broken", text)
    package("acme_good", GOOD)
    entry_point(acme__broken="acme_broken:Greet", acme__double="acme_good:double")
    registry = Registry()

    assert "acme.double" in registry.specs()
    assert registry.get("flow.noop")
    with pytest.raises(UnknownModule, match=rf"'acme\.broken' could not be loaded: {reason}"):
        registry.get("acme.broken")
    assert "'acme.broken' could not be loaded" in caplog.text


def test_a_broken_file_of_the_environment_is_named_with_the_modules_it_may_hold(
    package, monkeypatch
):
    package("acme_broken", "1 / 0")
    monkeypatch.setenv("VALKYR_EXTRA_MODULES", "acme_broken,acme_none")

    with pytest.raises(UnknownModule, match=r"acme_broken: ZeroDivisionError.*acme_none: Module"):
        Registry().get("acme.any")


@pytest.mark.parametrize("taken", ["flow.noop", "acme.greet"])
def test_a_third_party_cannot_take_anothers_type(taken, package, entry_point):
    package("acme_good", GOOD)
    package("acme_evil", GOOD.replace("acme.greet", taken).replace("acme.double", "acme.other"))
    entry_point(acme__greet="acme_good:Greet", evil="acme_evil:Greet")
    registry = Registry()

    specs = registry.specs()

    assert type(registry.get(taken)).__module__ != "acme_evil"
    assert taken in specs
    with pytest.raises(UnknownModule, match="is already used"):
        registry.get("evil")


def test_a_module_can_be_added_by_hand():
    class Mine(Module):
        """Mine."""

        type = "mine.one"
        title = "One"
        category = "custom"
        Inputs = ModuleInputs

    registry, mine = Registry(), Mine()
    registry.specs()

    registry.add(mine)
    registry.add(mine)

    assert registry.get("mine.one") is mine
    assert registry.specs()["mine.one"].description == "Mine."
    with pytest.raises(ValueError, match="already used"):
        registry.add(Mine())


def test_warming_up_loads_what_steps_need_and_survives_a_module_that_cannot(
    package, monkeypatch, caplog
):
    text = GOOD.replace("    def execute", "    def warm_up(self):\n        1 / 0\n    def execute")
    package("acme_good", text)
    monkeypatch.setenv("VALKYR_EXTRA_MODULES", "acme_good")

    Registry().warm_up()

    assert "httpx" in sys.modules
    assert "'acme.greet' could not warm up" in caplog.text


def test_loading_a_module_imports_no_library_that_it_does_not_need():
    program = (
        "import sys; from runners.modules import declared, registry; "
        "from valkyr_plugins.connectors.types import TYPES; declared.declare('', TYPES); "
        "assert len(list(registry.specs())) > 40; "
        "heavy = {'httpx', 'jsonschema', 'django', 'celery'} & set(sys.modules); "
        "assert not heavy, heavy"
    )

    bare = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO")}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env=bare)


UNDESCRIBABLE = """
from runners.modules.registry import step

class Odd: ...

@step("acme.odd")
def odd(what: Odd) -> None: ...

@step("acme.even")
def even(n: int) -> None: ...
"""


def test_a_module_that_cannot_be_described_harms_no_other(package, monkeypatch, caplog):
    package("acme_odd", UNDESCRIBABLE)
    monkeypatch.setenv("VALKYR_EXTRA_MODULES", "acme_odd")
    registry = Registry()

    assert "acme.even" in registry.specs()
    assert "acme.odd" not in registry.specs()
    assert "acme.odd" not in list(registry.specs())
    assert "'acme.odd' cannot be described" in caplog.text


def test_a_module_is_described_when_it_is_asked_for(package, monkeypatch):
    package("acme_good", GOOD)
    monkeypatch.setenv("VALKYR_EXTRA_MODULES", "acme_good")
    described = []
    registry = Registry()
    real = registry._description
    monkeypatch.setattr(registry, "_description", lambda name: described.append(name) or real(name))

    registry.warm_up()
    assert described == []
    assert registry.specs()["acme.double"].title == "Double"
    assert described == ["acme.double"]
