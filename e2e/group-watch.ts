import pg from "pg";
import { again } from "./again.ts";
import type { SeenApplication } from "./application-watch.ts";
import { reflect } from "./reflect.ts";
import { TYPES, type World } from "./world.ts";

/** Where each namespace's units live, and where live moves bring or take them, in one statement: rows of one moment. */
const PLACES = `
select w.namespace, i.name as instance
  from placement_unit u join workspace w on w.id = u.workspace join instance i on i.id = u.owner
union
select w.namespace, i.name
  from move m join placement_unit u on u.id = m.unit join workspace w on w.id = u.workspace join instance i on i.id in (m.from_instance, m.to_instance)
 where m.ended_at is null`;
const PROBE_EVERY_MS = 200;

/** What was seen of who is on one instance, by two means: rows of the database, and Applications that stand. */
export interface GroupWatch {
  /** Instances on which two customers were seen at once, as `<instance>: <customers>`, each once. */
  readonly rows: ReadonlySet<string>;
  readonly applications: ReadonlySet<string>;
  /** How many probes of the rows, and how many changes of Applications, there were. */
  counts(): { readonly probes: number; readonly changes: number };
  close(): Promise<void>;
}

/**
 * Watches whether namespaces of two customers are ever on one instance. `customerOf` is the story's own knowledge of them: what the control plane has recorded of groups is
 * not read. Rows are probed; of Applications every state is seen, also between two probes, and one counts until it is gone.
 */
export async function watchGroups(world: World, customerOf: (namespace: string) => string | undefined): Promise<GroupWatch> {
  const [rows, applications] = [new Set<string>(), new Set<string>()];
  const counts = { probes: 0, changes: 0 };
  const client = new pg.Client(world.harness.databaseUrl);
  await client.connect();
  const probing = again(PROBE_EVERY_MS, async () => {
    const found = await client.query<{ readonly namespace: string; readonly instance: string }>(PLACES);
    counts.probes += 1;
    for (const meeting of meetingsOf(found.rows, customerOf)) rows.add(meeting);
  });
  const standing = new Map<string, { readonly namespace: string; readonly instance: string }>();
  const watch = await reflect<SeenApplication>(world, { type: TYPES.application }, (change) => {
    const { namespace, name } = change.at;
    const key = `${namespace}/${name}`;
    if (change.kind === "delete") standing.delete(key);
    else standing.set(key, { namespace: change.now.spec?.destination?.namespace ?? "", instance: namespace });
    counts.changes += 1;
    for (const meeting of meetingsOf([...standing.values()], customerOf)) applications.add(meeting);
  });
  return {
    rows,
    applications,
    counts: () => counts,
    async close() {
      await watch.close();
      await probing.end();
      await client.end();
    },
  };
}

function meetingsOf(
  places: readonly { readonly namespace: string; readonly instance: string }[],
  customerOf: (namespace: string) => string | undefined,
): readonly string[] {
  return [...Map.groupBy(places, ({ instance }) => instance)].flatMap(([instance, all]) => {
    const customers = [...new Set(all.flatMap(({ namespace }) => customerOf(namespace) ?? []))].sort();
    return customers.length > 1 ? [`${instance}: ${customers.join(", ")}`] : [];
  });
}
