"""Switch the sealing of a workspace's payloads, and seal or open the stored ones.

`switch` turns sealing on and off and rotates keys, for values that are written afterwards. `walk`
changes the existing rows to the same state, in small steps, while the engine runs.
"""
