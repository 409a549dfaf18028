"""What plugins may import of `executions`. All else may change without notice.

`plugins` declares a plugin. `definitions`, `templates`, `schemas`, `values` and `errors` read and
check what workflows are made of; they are pure. `publishing` publishes, `access` says who may do
what, `models` are the tables, `database` has its clock and locks, `api` builds endpoints and
`admin` pages, `sealing` encrypts, `signing` signs, `tracing` passes traces on, `configuration`
reads settings.
"""
