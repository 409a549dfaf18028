"""Clients generated from the live document build, match it and work."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import Served
from tests.clients.node import BIN, FOLDER, packages, run

COMPILER = {
    "compilerOptions": {
        "strict": True,
        "noEmit": True,
        "target": "es2022",
        "module": "esnext",
        "moduleResolution": "bundler",
        "lib": ["es2022", "dom"],
        "types": [],
    },
    "files": ["use-client.ts", "schema.d.ts"],
}


@pytest.fixture
def known_types(pytestconfig: pytest.Config, tmp_path: Path) -> Path:
    """Return the folder of mypy's cache for the packages; they are the same in each session."""
    cache = pytestconfig.cache
    return tmp_path / "cache" if cache is None else cache.mkdir("mypy-of-clients")


def test_a_python_client_type_checks_and_starts_an_execution(
    served: Served, tmp_path: Path, known_types: Path
) -> None:
    generator = Path(sys.executable).with_name("openapi-python-client")
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    made = run(
        tmp_path, generator, "generate", "--path", served.document, "--meta", "none",
        "--output-path", tmp_path / "valkyr_client", "--config", "config.yaml",
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    shutil.copy(FOLDER / "use_client.py", tmp_path)
    (tmp_path / "mypy.ini").write_text("[mypy]\n")

    checked = run(
        tmp_path, sys.executable, "-m", "mypy", "--config-file", "mypy.ini",
        "--cache-dir", known_types, "use_client.py", "valkyr_client",
    )  # fmt: skip
    used = run(tmp_path, sys.executable, "use_client.py", **served.environment)

    assert checked.returncode == 0, checked.stdout
    assert used.returncode == 0, used.stderr
    assert "Ada" in used.stdout


def test_typescript_types_compile_and_a_program_starts_an_execution(
    served: Served, tmp_path: Path
) -> None:
    modules = packages() / "node_modules"
    (tmp_path / "node_modules").symlink_to(modules)
    shutil.copy(FOLDER / "use-client.ts", tmp_path)
    (tmp_path / "tsconfig.json").write_text(json.dumps(COMPILER))
    (tmp_path / "package.json").write_text('{"type": "module"}')

    made = run(
        tmp_path, BIN / "node", modules / "openapi-typescript" / "bin" / "cli.js",
        served.document, "-o", "schema.d.ts",
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    compiled = run(tmp_path, BIN / "node", modules / "typescript" / "bin" / "tsc", "-p", ".")
    used = run(tmp_path, BIN / "node", "use-client.ts", **served.environment)

    assert compiled.returncode == 0, compiled.stdout
    assert used.returncode == 0, used.stderr
    assert '{"name":"Ada"}' in used.stdout
