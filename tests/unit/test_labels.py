"""A project may give Valkyr's apps other labels: all names follow, and conflicts are reported."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import migrations

from executions import addresses
from executions.configuration import labels
from executions.database.migrations import Migration
from executions.plugins import apps_with_api
from runners.apps import RunnersConfig


@pytest.fixture
def _relabelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "_labels", lambda: {"runners": "valkyr_runners"})


def migration(of: str) -> Migration:
    found: Migration = import_module(f"{of}.migrations.0001_initial").Migration("0001_initial", of)
    return found


def referred(of: Migration) -> set[str]:
    """Return the models to which the fields of a migration refer."""
    fields = (
        field
        for operation in of.operations
        if isinstance(operation, migrations.CreateModel)
        for _, field in operation.fields
    )
    return {str(f.remote_field.model).lower() for f in fields if getattr(f, "remote_field", None)}


@pytest.mark.usefixtures("_relabelled")
def test_migrations_refer_to_the_label_that_the_project_gives() -> None:
    found = migration("dlq")

    assert ("valkyr_runners", "0001_initial") in found.dependencies
    assert ("executions", "0001_initial") in found.dependencies
    assert "valkyr_runners.run" in referred(found)
    assert "runners.run" not in referred(found)
    assert "auth.user" in referred(migration("executions"))


@pytest.mark.usefixtures("_relabelled")
def test_a_model_that_the_project_swaps_keeps_its_own_label() -> None:
    (dependency,) = (one for one in migration("executions").dependencies if hasattr(one, "setting"))

    assert dependency == ("auth", "__first__")


@pytest.mark.usefixtures("_relabelled")
def test_a_proxy_is_of_the_relabelled_model() -> None:
    bases = {
        base
        for operation in migration("runners").operations
        if isinstance(operation, migrations.CreateModel)
        for base in operation.bases
        if isinstance(base, str)
    }

    assert bases == {"valkyr_runners.run"}


def test_every_migration_of_ours_translates_labels() -> None:
    for config in apps_with_api():
        if config.models_module is not None and list(config.get_models()):
            try:
                module = import_module(f"{config.name}.migrations.0001_initial")
            except ModuleNotFoundError:
                continue
            assert issubclass(module.Migration, Migration), config.name


@pytest.mark.usefixtures("_relabelled")
def test_pages_of_the_admin_follow() -> None:
    assert addresses.page("runners_run", 7) == "valkyr_runners/run/7/change/"
    assert addresses.page("dlq_failuregroup") == "dlq/failuregroup/"


def test_an_app_of_the_same_label_is_refused_with_what_to_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = SimpleNamespace(INSTALLED_APPS=["runners", "company.runners"])
    monkeypatch.setattr(labels, "settings", installed)

    with pytest.raises(ImproperlyConfigured) as refused:
        RunnersConfig("runners", import_module("runners"))

    assert "'company.runners' and 'runners' (Valkyr's)" in str(refused.value)
    assert "class Ours(runners.apps.RunnersConfig)" in str(refused.value)
    assert 'label = "valkyr_runners"' in str(refused.value)
