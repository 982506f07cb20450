import type { Millis } from "../../../../domain/clock.ts";
import type { VerdictState } from "../../../../domain/health.ts";
import type { FleetSnapshot } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { INSTANCE, type InstanceRow, instanceOf } from "../fleet/instance-row.ts";
import { loadOfRow } from "../rows.ts";
import { BURDENS, SUMS } from "./placed-units.ts";

/** Summed up instance by instance: units of other classes are not read. */
const READ: Statement = {
  name: "read_fleet_of_class",
  text: `
select ${INSTANCE}, (select spec -> 'versions' ->> 'floor' from fleet) as floor, array[coalesce(h.l1, 0), coalesce(h.l2, 0), coalesce(h.l3, 0), coalesce(h.l4, 0), coalesce(h.l5, 0)]::bigint[] as held, coalesce(h.units, 0) as units,
       v.state as judged, v.at as judged_at
  from instance i
  left join instance_verdict v on v.instance = i.id
  left join lateral (select count(*) filter (where b.is_owned) as units, ${SUMS} from ${BURDENS} where b.instance = i.id) as h on true
 where i.class = $1 and i.state <> 'RETIRED'
 order by i.id`,
};

type Row = InstanceRow & {
  readonly floor: string | null;
  readonly held: readonly number[];
  readonly units: number;
  readonly judged: VerdictState | null;
  readonly judged_at: Millis | null;
};

export async function readFleetOfClass(database: Database, className: string, signal: AbortSignal): Promise<FleetSnapshot> {
  const rows = await database.run<Row>(READ, [className], signal);
  const floor = rows[0]?.floor ?? undefined;
  return {
    class: className,
    floor,
    instances: rows.map((row) => {
      const { judged, judged_at: at } = row;
      const verdict = judged === null || at === null ? undefined : { state: judged, at };
      return { instance: instanceOf(row), load: loadOfRow(row.held), units: row.units, verdict };
    }),
  };
}
