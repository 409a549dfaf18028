"""What plugins may import of `runners`. All else may change without notice.

`modules` holds the contract of modules: what a step's code gets, gives and raises. `steps` runs a
module outside of a workflow, `secrets` keeps secrets out of results and logs, `models` are the
tables, `events` the signals, `budgets` tells what was spent.
"""
