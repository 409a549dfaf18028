"""The public modules of `executions` for plugins. Everything else may change without notice.

The docstring of each module states its purpose. The modules `definitions`, `templates`, `schemas`,
`values` and `errors` use no database.
"""
