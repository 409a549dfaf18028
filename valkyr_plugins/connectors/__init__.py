"""The modules that call other systems and transform data.

`types` names the file of each module type. Code that loads a library such as httpx, which only a
running step needs, is in a file separate from the module's declaration.

Read `network/` first: the clients of all other families follow its rules. The other folders are
`data`, `files` and `archives`, `sql`, `mail`, `messages` and `messaging`, `payments`, `ai` and
`agents`, and `code`, which runs a definition's code in a sandbox.
"""
