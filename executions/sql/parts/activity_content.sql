-- The content of a row of the audit trail as text, which the row's leaf in the hash chain covers. A
-- change here breaks the verification of every row that is sealed already.
jsonb_build_array(a.id, a.workspace_id, a.actor_id, a.actor_name, a.via, host(a.address), a.action,
    a.object_type, a.object_id, a.reason, a.before::text, a.after::text, a.details::text,
    (extract(epoch FROM a.created_at) * 1000000)::bigint, a.transaction)::text
