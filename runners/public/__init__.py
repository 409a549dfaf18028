"""What plugins may import of `runners`. All else may change without notice.

- `admin`: say what holds a run back
- `api`: show runs over HTTP
- `checkpoints`: keep variables where the engine takes a checkpoint
- `circuits`: which targets rest
- `costs`: hear what attempts cost
- `events`: the signals
- `explain`: why runs are held back
- `gates`: hold steps back before they run
- `forks`: start new executions in the middle of others
- `leased_runs`: runs that are worked outside of our workers
- `models`: the tables
- `modules`: the contract of modules: what a step's code gets, gives and raises
- `queues`: what waits for workers
- `registry`: register modules
- `recovery`: duties of the sweeper
- `rendering`: render the inputs of recorded steps again
- `repair`: run steps again with other inputs
- `secrets`: keep secrets out of results and logs
- `steps`: run a module outside of a workflow
- `targets`: what holds for the targets of steps
- `testing`: run workflows in a test
- `tracing`: make spans
"""

__all__ = []
