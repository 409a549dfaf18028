"""Switch the sealing of a workspace's payloads, and seal or open the stored ones.

`switch` turns it on and off and rotates keys; what is written afterwards follows it. `walk` brings
the rows that exist into the same state, in small steps, while the engine runs.
"""
