"""Django set up as for a consumer; a process that imports this can be forked into consumers."""

import os
from importlib import import_module

import django

os.environ["VALKYR_PROCESS"] = "consumer"  # as manage.py does, before settings are read
django.setup()
import_module("executions.management.commands.consume")
# Each checks every module before it reads, to know the engine's own queues.
described = len(import_module("executions.definition.catalog").catalog())
