-- As whom a process acts on the API cluster, as that cluster says: the doctor asks it what these accounts may do. Written by each process
-- for itself beside its sign of life; null where it could not ask yet, and always by programs of before, which leave both as they are.
-- needs program: 0007
alter table member add column account text, add column account_groups text[];
