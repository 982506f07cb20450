-- Whether an operation's message says what its instance has met with, and not what it waits for before that: only of the former
-- is its user told. Until now the text was compared. A process of before leaves this as it is, and its users hear of what it
-- meets with from whoever comes after it.
alter table operation add column is_trouble boolean not null default false;

update operation set is_trouble = true
 where state <> 'Completed'
   and message not in ('Waiting: for an instance', 'Waiting: for its instance to take it', 'Waiting: no instance has room');
