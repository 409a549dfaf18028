"""Tools for those who change Valkyr; no part of what is installed."""
