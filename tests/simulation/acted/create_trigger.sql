-- Create a trigger that records changes of a run which must never happen; `violations.sql` reads
-- them.
CREATE TABLE IF NOT EXISTS simulation_broken (id bigserial PRIMARY KEY, what text NOT NULL);
CREATE OR REPLACE FUNCTION simulation_watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.lease_token < OLD.lease_token THEN
        INSERT INTO simulation_broken (what)
        VALUES ('the token of ' || OLD.step_path || ' fell');
    END IF;
    IF NEW.leased_by <> '' AND NEW.leased_by <> OLD.leased_by
       AND NEW.lease_token <= OLD.lease_token THEN
        INSERT INTO simulation_broken (what)
        VALUES (OLD.step_path || ' has another holder under the same token');
    END IF;
    IF NEW.state = 'RUNNING' AND NEW.lease_token > OLD.lease_token AND NOT EXISTS (
        SELECT FROM executions_workflowexecution
         WHERE id = NEW.execution_id AND state = 'RUNNING' AND place = 'HELD') THEN
        INSERT INTO simulation_broken (what)
        VALUES (OLD.step_path || ' was claimed while its execution may not run');
    END IF;
    IF OLD.state = 'RUNNING' AND NEW.state = 'SUCCESS'
       AND current_setting('simulation.holder', true) IS DISTINCT FROM OLD.leased_by THEN
        INSERT INTO simulation_broken (what)
        VALUES (OLD.step_path || ' was recorded by somebody who does not hold it');
    END IF;
    IF OLD.state IN ('SUCCESS', 'FAILED', 'DLQ', 'SKIPPED', 'CANCELLED', 'TIMEOUT')
       AND NEW.state <> OLD.state THEN
        INSERT INTO simulation_broken (what)
        VALUES (OLD.step_path || ' went from ' || OLD.state || ' to ' || NEW.state);
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER simulation_watch AFTER UPDATE ON runners_run
    FOR EACH ROW EXECUTE FUNCTION simulation_watch();
TRUNCATE simulation_broken
