"""Switch the sealing of a workspace's payloads, and seal or open the stored ones.

`switch` turns sealing on and off and rotates keys, for values that are written afterwards. `walk`
brings the existing rows into the same state, in small steps, while the engine runs.
"""
