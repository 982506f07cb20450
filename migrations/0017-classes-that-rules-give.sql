-- Rules of fleet.yaml (`workspaces.classes`) give workspaces a class by labels of their namespace. One that is there already is handed over to an
-- instance of its new class by a live move.
-- needs program: 0007, because one of before leaves a unit's class as it is, and one of now makes it that of its instance where a rule asked for that

-- The class that a rule gives the unit where it has another one yet. Written by the workspace role; null again once the unit has it. Whoever makes
-- the unit the property of an instance makes `class` that of the instance.
alter table placement_unit add column wanted_class text collate "C";

-- What the scheduler has to find an instance for, in one list. Programs of before search those without an owner, which this index serves too. It holds
-- next to nothing; on 100,000 units, all of them without an owner, this file took 1.2 s on a busy machine.
create index placement_unit_unsettled on placement_unit (created_at, id) where owner is null or wanted_class is not null;
drop index placement_unit_unplaced;
