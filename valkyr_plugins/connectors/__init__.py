"""The modules that call other systems and transform data.

Read `network/` first: the clients of all others follow its rules. Then a family a folder: `data`,
`files` and `archives`, `sql`, `mail`, `messages` and `messaging`, `payments`, `ai`, and `code`,
which runs Python of a definition in a sandbox.
"""
