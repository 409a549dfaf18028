"""The project of `people` with its accounts in one database and our tables in another."""
