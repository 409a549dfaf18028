"""The project of `people` with two aliases of one database, the second for Valkyr."""
