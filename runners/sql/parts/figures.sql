-- The figures that are stored with an execution when it ends; field names as in the API.
SELECT json_build_object(
    'steps', count(DISTINCT r.step_path) FILTER (WHERE r.state = 'SUCCESS'),
    'runs', count(r.id) FILTER (WHERE r.state <> 'SKIPPED'),
    'retries', count(r.id) FILTER (WHERE r.attempt > r.budget_start),
    'deadLetters', count(r.id) FILTER (WHERE r.state = 'DLQ'),
    'skipped', count(r.id) FILTER (WHERE r.state = 'SKIPPED'),
    'costTokens', coalesce(sum(r.cost_tokens), 0),
    'costAmount', coalesce(sum(r.cost_amount), 0),
    'quality', CASE WHEN count(r.id) FILTER (WHERE r.module = 'quality.assess'
                                               AND r.state = 'SUCCESS') > 0 THEN
        json_build_object(
            'count', count(r.id) FILTER (WHERE r.module = 'quality.assess'
                                           AND r.state = 'SUCCESS'),
            'mean', round(avg((r.outputs ->> 'score')::numeric)
                          FILTER (WHERE r.module = 'quality.assess' AND r.state = 'SUCCESS'), 4),
            'passRate', round(avg((r.outcome = 'true')::int)
                              FILTER (WHERE r.module = 'quality.assess'
                                        AND r.state = 'SUCCESS'), 4)) END,
    'durationMs', round(1000 * extract(epoch FROM clock_timestamp() - min(e.started_at))),
    'queuedMs', round(1000 * extract(epoch FROM min(e.started_at) - min(e.created_at))))
  FROM executions_workflowexecution e
  LEFT JOIN runners_run r ON r.execution_id = e.id AND NOT r.superseded
 WHERE e.id = %(execution)s
