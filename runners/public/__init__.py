"""The public modules of `runners` for plugins. Everything else can change without notice.

- `admin`: show why a run is held
- `api`: show runs over HTTP
- `checkpoints`: save variables when the engine takes a checkpoint
- `circuits`: report targets whose circuit is open
- `costs`: receive the costs of attempts
- `events`: the Django signal `segments_resent`
- `explain`: explain why runs are held
- `gates`: hold steps before they run
- `forks`: start new executions in the middle of others
- `leased_runs`: let external programs execute runs
- `models`: the tables
- `modules`: the contract of modules: a step's inputs, outputs and errors
- `queues`: queue lengths and workers
- `registry`: register modules
- `recovery`: duties of the sweeper
- `rendering`: render the inputs of recorded steps again
- `replaying`: compute an execution again in memory, from recorded results
- `repair`: run steps again with other inputs
- `secrets`: keep secrets out of results and logs
- `steps`: run a module outside a workflow
- `targets`: rules for the targets of steps
- `testing`: run workflows in a test
- `tracing`: create spans
- `version_changes`: move executions to another version
"""

__all__ = []
