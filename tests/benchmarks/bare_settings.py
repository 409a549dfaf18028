"""The project's settings, with only the bare view and the token endpoint."""

from valkyr_project.settings import *  # noqa: F403 - all of them

ROOT_URLCONF = "tests.benchmarks.bare"
