import type { FleetSnapshot } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { INSTANCE, type InstanceRow, instanceOf } from "../fleet/instance-row.ts";
import { loadOf } from "../rows.ts";

const READ: Statement = {
  name: "read_fleet_of_class",
  text: `
select ${INSTANCE}, (select spec -> 'versions' ->> 'floor' from fleet) as floor, array[coalesce(h.l1, 0), coalesce(h.l2, 0), coalesce(h.l3, 0), coalesce(h.l4, 0), coalesce(h.l5, 0)]::bigint[] as held, coalesce(h.units, 0) as units
  from instance i
  left join (select owner, count(*) as units, sum(load[1]) as l1, sum(load[2]) as l2, sum(load[3]) as l3, sum(load[4]) as l4, sum(load[5]) as l5
               from placement_unit where owner is not null group by owner) as h on h.owner = i.id
 where i.class = $1 and i.state <> 'RETIRED'
 order by i.id`,
};

type Row = InstanceRow & { readonly floor: string | null; readonly held: readonly number[]; readonly units: number };

export async function readFleetOfClass(database: Database, className: string, signal: AbortSignal): Promise<FleetSnapshot> {
  const rows = await database.run<Row>(READ, [className], signal);
  const floor = rows[0]?.floor ?? undefined;
  return {
    class: className,
    floor,
    instances: rows.map((row) => ({ instance: instanceOf(row), load: loadOf(row.held), units: row.units })),
  };
}
