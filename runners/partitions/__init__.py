"""Partitions of the runs' table by time: optional, and off by default.

The table is range-partitioned by the ID of the runs' execution, which begins with the execution's
time. `layout` reads the partitions, and `naming` finds the partition for a statement. `switching`
partitions the table, and converts it back. `upkeep` adds future partitions and removes old ones.
`orphans` finds rows that a foreign key would reject.

Django's models do not change: `Run.id` remains the key, unique in each partition.
"""
