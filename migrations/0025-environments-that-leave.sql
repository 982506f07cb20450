-- Environments whose end waits for something are asked for each minute; all others are compared with their resources a page at a time.
-- needs program: 0007, because an index changes nothing that programs see
create index environment_leaving on environment (id) where state = 'leaving';
