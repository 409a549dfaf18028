"""Finished executions in Parquet files, before retention deletes them. Off without a setting.

Read `archiving` (a turn: which executions, in which files), `columns` (rows as Parquet), `writing`
(a file, and its verification), `storage` (fsspec), `retention_hooks` (retention waits), `reading`
(open one), `restoring` (replay and fork), `erasing` and `asking` (SQL by DuckDB).
"""
