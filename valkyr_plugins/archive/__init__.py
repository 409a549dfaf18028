"""Archive finished executions in Parquet files before retention deletes them; off by default.

`archiving` chooses executions and files, `columns` converts rows, `writing` writes and verifies a
file, and `storage` uses fsspec. `retention_hooks` makes retention wait, `reading` opens an archived
execution, `restoring` restores one for replays and forks, `erasing` erases executions, and `asking`
runs SQL with DuckDB.
"""
