"""One image for all processes of a host: the code is loaded once, and every process is forked.

`launcher` is the process that loads (`contents`) and forks; `client` requests processes from it; a
process applies its own environment and settings in `role`. The launcher has one thread, no
connection and no shared memory, so that only code is inherited.
"""
