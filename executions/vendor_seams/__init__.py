"""Code that relies on private parts of a library: one file for each library and part.

Each file says what it relies on, in which versions, why there is no public way, and what breaks
when the library changes. `tests/unit/vendor_seams/` pins each reliance; run it first after an
upgrade. This is the lowest layer: any app may import it, and it imports none of our other packages.
The seams for optional packages (connectors, single sign-on) are in the plugins that need them.
"""
