-- Return the violations that the trigger recorded.
SELECT what FROM simulation_broken ORDER BY id
