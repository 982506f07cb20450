-- Codes are named by the field's words. What stands for a unit on its instance, and the journal's entries about it, are of the
-- kind owner-binding: it was register. A deletion is given up by its TIMEOUT, and a move because its OWNER_BINDING_BYPASSED. An
-- instance that refreshes nothing by itself has the cause periodic-refreshes.
-- A process of before is refused where it writes the former kinds, and believes that no unit's owner binding stands: it writes no
-- Application and tries again, until it has ended and one of this version takes over.
alter table shard_object drop constraint shard_kind;

update shard_object set kind = 'owner-binding' where kind = 'register';

alter table shard_object add constraint shard_kind check (kind in ('application', 'project', 'cluster-entry', 'account', 'owner-binding'));

alter table decision drop constraint decision_kind;

update decision set kind = 'owner-binding' where kind = 'register';

update decision set rule = 'TIMEOUT' where kind = 'deletion' and rule = 'PATIENCE';

update decision set rule = 'OWNER_BINDING_BYPASSED' where kind = 'placement' and rule = 'REGISTER_BYPASSED';

update decision set rule = 'PERIODIC-REFRESHES' where kind = 'health' and rule = 'PERIODIC-LOOKS';

alter table decision add constraint decision_kind check (kind in
  ('rollout', 'deletion', 'directive', 'fleet', 'instance', 'ownership', 'placement', 'plan', 'owner-binding', 'health'));

update instance_verdict set cause = 'periodic-refreshes' where cause = 'periodic-looks';
