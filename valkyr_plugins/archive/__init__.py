"""Archive finished executions in Parquet files before retention deletes them; off by default.

Read `archiving` (which executions, in which files), `columns` (rows as Parquet), `writing` (a file,
and its verification) and `storage` (fsspec). Then read `retention_hooks` (retention waits),
`reading` (an archived execution), `restoring` (for replays and forks), `erasing` and `asking` (SQL
by DuckDB).
"""
