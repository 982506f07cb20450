-- What live moves bring to an instance is found by the instance. Placing a unit adds up what each instance of its class holds: with ten thousand live moves it
-- read all of them again for each instance.
-- needs program: 0007
--
-- Built while writers of the table wait. It holds live moves only: with 20,000 moves that have ended it took 7 ms.

create index move_arriving on move (to_instance) where ended_at is null;
