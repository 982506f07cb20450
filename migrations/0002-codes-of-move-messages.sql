-- What a move's message says, for decisions: until now they read the text. WAITS: what it waits for in its phase. WORSE: it
-- goes on, or has ended, although something is worse than before. GIVEN_UP: a person gave it up, so that it counts as no
-- failure of its target. Null: nothing is said, or why it ended by itself.
-- A process of before writes the text alone. Until it has ended, a move that it gives up counts as one that failed.
alter table move add column message_code text constraint move_message_code check (message_code in ('WAITS', 'WORSE', 'GIVEN_UP'));

update move
   set message_code = case
     when starts_with(message, 'for ') then 'WAITS'
     when starts_with(message, 'VERIFY failed, waiting ') then 'WORSE'
     else 'GIVEN_UP'
   end
 where starts_with(message, 'for ') or starts_with(message, 'VERIFY failed, waiting ') or starts_with(message, 'given up by ');
