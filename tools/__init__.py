"""Tools for developers of Valkyr; not part of the installed package."""
