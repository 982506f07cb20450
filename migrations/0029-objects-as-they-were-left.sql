-- The objects of an instance as a process last left them, as one hash. A process that takes over an instance writes none of them where the hash is the same. It
-- could not know how they were left, and wrote all of them, some thirty for each instance.
-- needs program: 0007

alter table instance add column left_hash text;
