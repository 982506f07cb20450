-- Health counts each minute the workspaces of each instance that cannot be compared. It read the status of every application for that.
-- needs program: 0007, because an index changes nothing that programs see
--
-- It holds next to nothing. A status makes an entry only when its conditions change.
create index application_status_troubled on application_status (unit) where conditions::text like '%"ComparisonError"%';
