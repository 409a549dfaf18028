"""What plugins may import of `executions`. All else may change without notice.

- `access`: who may do what
- `accounts`: change who is a member
- `admin`: build admin pages
- `api`: build endpoints
- `conditions`: report what people may be told of
- `configuration`: read settings
- `database`: the clock, locks and named statements
- `definitions`, `templates`, `schemas`, `values`, `errors`: what workflows are made of; pure
- `events`: the signals
- `graphs`: compiled versions, and which steps of them run
- `jobs`: let a worker compute what a request asks for
- `lifecycle`: end executions, and let them go on
- `models`: the tables
- `plugins`: declare a plugin
- `publishing`: publish workflows
- `quotas`: limit what starts, and count what is used in hours and days
- `sealing`, `signing`: encrypt and sign
- `starting`: start executions
- `tracing`: pass traces on
"""
