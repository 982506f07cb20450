-- What releases of Argo CD consist of, and declarations of the fleet that wait for a second person. Programs of before write neither: they
-- change images of a release as they did, and declare without a second person, until they have ended.
-- needs program: 0007

-- Written once and never changed or deleted: what was declared under a version stays that for good, also when the catalogue leaves it out.
create table release_part (
  version text collate "C" not null,
  -- crds: the hash of the release's definitions as the first process read them.
  part text collate "C" not null constraint release_part_part check (part in ('image', 'redisImage', 'crds')),
  content text not null,
  since timestamptz not null,
  primary key (version, part)
);

-- What is declared already stays what it is.
insert into release_part (version, part, content, since)
select release ->> 'version', part, release ->> part, declared_at
  from fleet
 cross join lateral json_array_elements(spec -> 'versions' -> 'catalogue') as c (release)
 cross join unnest(array['image', 'redisImage']) as p (part)
 where revision > 0
on conflict do nothing;

-- Written by PUT /v1/fleet, and by whoever approves, rejects or withdraws. They are few, and kept.
create table fleet_proposal (
  id text collate "C" primary key,
  state text not null constraint fleet_proposal_state check (state in ('OPEN', 'APPROVED', 'REJECTED', 'WITHDRAWN')),
  -- Revision of the declaration that it was made from; 0: none.
  base bigint not null,
  created_at timestamptz not null,
  -- The whole proposal, with what it would declare.
  document json not null
);

create index fleet_proposal_newest on fleet_proposal (created_at, id);
