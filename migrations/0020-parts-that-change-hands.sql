-- A part of a workspace that takes applications over from another one on the same instance, which is how what is deployed is cut and joined.
-- Written by the scheduler.
-- needs program: 0007, because one of before only lacks the rule that a part stays until the one it took from has left, and nothing is cut before a class rebalances by itself

-- The unit whose applications it took over on the instance both are on. It stays there until that unit has left or is gone.
alter table placement_unit add column took_from text collate "C" references placement_unit on delete set null;
-- The unit that takes its applications over. Once it has none it is given up.
alter table placement_unit add column joins text collate "C" references placement_unit on delete set null;
-- Both are null but for a few units. A unit that goes is searched for in them.
create index placement_unit_took_from on placement_unit (took_from) where took_from is not null;
create index placement_unit_joins on placement_unit (joins) where joins is not null;
