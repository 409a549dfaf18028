"""The modules that call other systems and transform data.

`types` names the file of each module type. Code that loads a library such as httpx, which only a
running step needs, is in a file separate from the module's declaration.

Read `network/` first: the clients of all others follow its rules. Then one folder per family:
`data`, `files` and `archives`, `sql`, `mail`, `messages` and `messaging`, `payments`, `ai`, and
`code`, which runs a definition's Python in a sandbox.
"""
