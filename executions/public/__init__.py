"""The public modules of `executions` for plugins. Everything else may change without notice.

- `access`: permissions
- `accounts`: change members
- `admin`: build admin pages
- `api`: build endpoints
- `conditions`: report conditions for notifications
- `configuration`: read settings
- `database`: the clock, locks and named statements
- `definitions`, `templates`, `schemas`, `values`, `errors`: the parts of workflows; pure
- `events`: the signals
- `graphs`: read compiled versions, and decide which of their steps run
- `jobs`: let a worker compute the response to a request
- `lifecycle`: end and continue executions
- `models`: the tables
- `plugins`: declare a plugin
- `publishing`: publish workflows
- `quotas`: limit starts, and count use per hour and day
- `sealing`, `signing`: encrypt and sign
- `starting`: start executions
- `tracing`: pass traces on
"""
