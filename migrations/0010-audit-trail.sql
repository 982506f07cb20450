-- Who asked for what, with which outcome: one row for what was asked for, and one for how it ended; for refusals one row with how
-- often. docs/audit.md says what is in it and how anybody can check it.
-- Written by the REST API, by commands that go to the database, and with each declaration of a fleet in the transaction of that.
-- The database itself keeps the chain: whoever inserts a row gives neither its number nor its time nor its hashes.
-- needs program: 0007, because no program of before has the table: what they do is not in it
create table audit_record (
  -- From 1 on, without gaps.
  seq bigint primary key,
  -- By the database's clock, in whole milliseconds.
  at timestamptz not null,
  -- Name of the token, user and host of a command, a role of Argosy, or `unauthenticated`.
  actor text collate "C" not null,
  -- rest: a request; database: a command that goes to the database; argosy: Argosy itself, with the change.
  via text not null constraint audit_via check (via in ('rest', 'database', 'argosy')),
  -- Of the token; null: it has none.
  role text,
  -- Address of the other end of the connection; null: there is none.
  remote text,
  -- Operation of the REST API, or command.
  action text collate "C" not null,
  target text not null,
  -- asked: it is about to be done, and another row with `answers` says how it ended.
  outcome text not null constraint audit_outcome check (outcome in ('asked', 'ok', 'refused', 'failed')),
  -- Of the error; empty: there is none.
  code text not null,
  -- How often: more than 1 for refusals only.
  count bigint not null,
  -- The row of what was asked for; null: nothing was asked for before.
  answers bigint,
  -- A JSON object in its canonical form, as it is hashed.
  details text not null,
  -- Hash of the row before; 64 zeros before the first.
  previous text not null,
  -- SHA-256 of `audit_text`.
  hash text not null
);
create index audit_by_time on audit_record (at);

-- What is hashed of a row: its fields but the hash, as JSON with sorted names and without spaces (RFC 8785).
create function audit_text(r audit_record) returns text language sql stable as $$
  select '{"action":' || to_json(r.action)
      || ',"actor":' || to_json(r.actor)
      || ',"answers":' || coalesce(r.answers::text, 'null')
      || ',"at":"' || to_char(r.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'
      || ',"code":' || to_json(r.code)
      || ',"count":' || r.count
      || ',"details":' || r.details
      || ',"outcome":' || to_json(r.outcome)
      || ',"previous":' || to_json(r.previous)
      || ',"remote":' || coalesce(to_json(r.remote)::text, 'null')
      || ',"role":' || coalesce(to_json(r.role)::text, 'null')
      || ',"seq":' || r.seq
      || ',"target":' || to_json(r.target)
      || ',"via":' || to_json(r.via) || '}'
$$;

-- Writers take turns until each has committed: the next reads the number and the hash that the last one wrote.
create function audit_append() returns trigger language plpgsql as $$
declare
  last_seq bigint;
  last_hash text;
begin
  perform pg_advisory_xact_lock(6101797101107);
  select seq, hash into last_seq, last_hash from audit_record order by seq desc limit 1;
  new.seq := coalesce(last_seq, 0) + 1;
  new.previous := coalesce(last_hash, repeat('0', 64));
  new.at := date_trunc('milliseconds', clock_timestamp());
  new.hash := encode(sha256(convert_to(audit_text(new), 'UTF8')), 'hex');
  return new;
end
$$;
create trigger audit_append before insert on audit_record for each row execute function audit_append();

create function audit_refuse() returns trigger language plpgsql as $$
begin
  raise exception '% of audit_record is refused: it is written once', tg_op using errcode = 'restrict_violation';
end
$$;
create trigger audit_refuse_update before update on audit_record for each statement execute function audit_refuse();
create trigger audit_refuse_truncate before truncate on audit_record for each statement execute function audit_refuse();

-- The one way that rows go: all up to one, each at least 30 days old, where a later row says which was the last of them and its hash.
create function audit_check_deleted() returns trigger language plpgsql as $$
declare
  last_seq bigint;
  last_hash text;
begin
  select seq, hash into last_seq, last_hash from gone order by seq desc limit 1;
  if last_seq is null then
    return null;
  end if;
  if exists (select from audit_record where seq <= last_seq)
     or exists (select from gone where at > clock_timestamp() - interval '30 days')
     or not exists (
       select from audit_record
        where seq > last_seq and action = 'forgetAudit' and details = format('{"hash":"%s","through":%s}', last_hash, last_seq)
     ) then
    raise exception 'DELETE of audit_record is refused: only what retention forgets goes' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;
create trigger audit_check_deleted after delete on audit_record referencing old table as gone
  for each statement execute function audit_check_deleted();
