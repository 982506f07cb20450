-- Which repositories a workspace was seen to be able to read, with what it has, and by which spelling instances are told of them.
-- needs program: 0007

-- A repository that applications of a workspace name. No row: it was in use before there were rows, or was recorded by a program of before, and
-- counts as readable until it is probed. Written by the workspace role; a first use adds the row together with the application.
create table repository_access (
  workspace text collate "C" not null references workspace on delete cascade,
  -- SHA-256 of `url`.
  url_hash text collate "C" not null,
  -- As `application.repo_url`.
  url text not null,
  -- `unproven`: nothing of it stands on an instance because of this workspace. `proven`: it was read. `lost`: it was, and can be no more:
  -- the project does not permit it, so that nothing of it is rendered, and what is deployed stays.
  state text not null constraint repository_access_state check (state in ('unproven', 'proven', 'lost')),
  -- What the last probe has shown, see `ACCESS_OUTCOMES`; null before the first.
  outcome text,
  -- The credential that it was probed with, and in which version; empty for none.
  credential text not null default '',
  probed_at timestamptz,
  proven_at timestamptz,
  -- Since when, and how many times in a row, the repository was refused; null and 0 while it is not.
  refused_since timestamptz,
  refusals integer not null default 0,
  -- See `repository_spelling`; 0 until it is proven.
  ordinal integer not null default 0,
  primary key (workspace, url_hash)
);

-- Places that Argo CD would keep in one checkout, in the order in which somebody was seen to read them. The n-th is written in a way of its own.
-- Rows stay: a number that was given again could lead to a checkout of before.
create table repository_spelling (
  -- SHA-256 of what is equal for all that share a checkout, and of the place itself, see src/domain/repository-spelling.ts.
  group_hash text collate "C" not null,
  place_hash text collate "C" not null,
  ordinal integer not null,
  -- Who was the first to read it.
  workspace text collate "C" not null,
  primary key (group_hash, place_hash),
  constraint repository_spelling_once unique (group_hash, ordinal)
);
