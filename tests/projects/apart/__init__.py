"""The project of `people` with its accounts in one database and Valkyr's tables in another."""
