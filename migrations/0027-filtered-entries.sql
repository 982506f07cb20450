-- A third way in which an instance enters the API cluster: by one entry for all its workspaces, through a filter in its pod that leaves out other
-- namespaces. A program of before takes such an instance for one with an entry for each workspace: nobody declares it before all are new.
-- needs program: 0007, because one of before neither reads nor writes the value until it is declared; declare `filtered` when all have this file

alter table instance drop constraint instance_entries;
alter table instance add constraint instance_entries check (entries in ('shared', 'filtered', 'per-workspace'));
