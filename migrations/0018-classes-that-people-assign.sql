-- The class that somebody has assigned to a workspace, whatever its labels ask for: class, with who ordered it, when and why; null where nobody did.
-- Written by `argosy assign`.
-- needs program: 0007, because one of before leaves a workspace in the class it has, and one of now goes on where it stopped

alter table directive add column assigned json;
