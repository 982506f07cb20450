-- What an instance was given beyond the resources that its pool declares: amounts, when they were changed last, what it goes back to while a change is
-- under way, and what was taken back last. Null: nothing. Written by the scheduler, and by the provisioner, which says how a change came out.
-- needs program: 0007, because one of before neither reads nor writes this column; it makes instances as their pools declare, so declare resources.max when all have this file

alter table instance add column raised json;
