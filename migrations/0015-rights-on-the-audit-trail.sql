-- Processes may have logins of their own that do not own the tables, and delete nothing of the audit trail. Retention forgets records by a
-- function of the owner: the triggers of 0010 still say what goes.
-- needs program: 0007, because programs of before delete as the owner that they are, and go on doing so

-- Deletes all records up to one, and returns how many. Needs the record that says so, and lets nothing go that is younger than 30 days.
create function audit_forget(through bigint) returns bigint language plpgsql security definer as $$
declare
  forgotten bigint;
begin
  delete from audit_record where seq <= through;
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
revoke execute on function audit_forget(bigint) from public;

-- Temporary tables are found last: a login that may make one of this name could otherwise give a trigger another trail to go on from.
do $$
declare
  pinned text;
begin
  foreach pinned in array array['audit_append()', 'audit_check_deleted()', 'audit_forget(bigint)'] loop
    execute format('alter function %s set search_path = %I, pg_temp', pinned, current_schema());
  end loop;
end
$$;
