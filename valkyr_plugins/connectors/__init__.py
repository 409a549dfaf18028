"""The modules that call other systems and transform data.

`types` names the file of each module type. A file that a step needs only as it runs, and that
loads a library such as httpx, stays apart from its module's declaration.

Read `network/` first: the clients of all others follow its rules. Then a family a folder: `data`,
`files` and `archives`, `sql`, `mail`, `messages` and `messaging`, `payments`, `ai`, and `code`,
which runs Python of a definition in a sandbox.
"""
