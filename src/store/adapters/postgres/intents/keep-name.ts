import type { Clock } from "../../../../domain/clock.ts";
import type { KeptName, KeptNameOutcome } from "../../../intent/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant } from "../sql-values.ts";

/** Of two that want a name at once the later one waits for the other's row, and reads it as it then is. */
const KEEP: Statement = {
  name: "keep_name",
  text: `
with facts as materialized (
  select exists (select from application where uid = $1 and argo_name <> $2) as is_late,
         exists (select from application where argo_name = $2 and uid <> $1)
           or exists (select from kept_name where uid = $1 and argo_name <> $2) as is_taken
), kept as (
  insert into kept_name as k (uid, argo_name, kept_at) select $1::text, $2::text, $3::timestamptz from facts where not is_late and not is_taken
  on conflict (argo_name) do update set uid = excluded.uid, kept_at = excluded.kept_at
   where k.uid = excluded.uid or (k.kept_at < $4::timestamptz and not exists (select from application where uid = k.uid))
  returning uid
)
select is_late, exists (select from kept) as is_kept from facts`,
};

export async function keepName(
  database: Database,
  clock: Clock,
  { uid, argoName, goneBefore }: KeptName,
  signal: AbortSignal,
): Promise<KeptNameOutcome> {
  const [row] = await database.run<{ readonly is_late: boolean; readonly is_kept: boolean }>(
    KEEP,
    [uid, argoName, instant(clock.now()), instant(goneBefore)],
    signal,
  );
  if (row?.is_late === true) return "late";
  return row?.is_kept === true ? "kept" : "taken";
}
