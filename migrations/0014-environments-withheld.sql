-- Environments that are withheld from instances, because caching them took more than one environment may.
-- needs program: 0007, because one of before connects such an environment again, and one of now withholds it again

-- What was measured, the budget, and until when; null: never. Written by the scheduler, which measures, and by the workspace role, which ends it
-- (see `Withholding` in src/domain/withholding.ts). While it is not ended the environment is not connected, whoever asks for it.
alter table environment add column withheld json;
