"""Static files are collected again when any of their sources has changed."""

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import storages

from tests.support.static_files import read_again
from valkyr_project.up import prepare
from valkyr_project.up.options import PROJECT


def test_every_static_file_of_the_project_is_watched() -> None:
    watched = prepare.sources()

    apps = [PROJECT / app for app in ("executions", "runners", "dlq", "valkyr_project")]
    folders = [
        folder
        for app in (*apps, *(PROJECT / "valkyr_plugins").iterdir())
        for folder in app.rglob("static")
        if "node_modules" not in folder.parts and any(folder.iterdir())
    ]

    assert len(folders) > 2
    assert [folder for folder in folders if folder not in watched] == []


def test_other_plugins_have_other_static_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VALKYR_PLUGINS", raising=False)
    before = prepare.fingerprint()

    monkeypatch.setenv("VALKYR_PLUGINS", "alerts,connectors")

    assert prepare.fingerprint() != before


def test_a_storage_that_found_no_manifest_is_replaced() -> None:
    before = storages["staticfiles"]

    read_again()

    assert storages["staticfiles"] is not before
    assert staticfiles_storage.base_url == storages["staticfiles"].base_url  # sets it up again
    assert staticfiles_storage._wrapped is storages["staticfiles"]
