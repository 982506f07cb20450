import type { Served } from "../../api/testing/served.ts";
import type { PlannedFleet } from "../../scheduler/testing/fleet.ts";
import { anObject } from "../../store/testing/builders.ts";

/** Has something of one workspace stand on the full instance; returns its namespace. */
export async function deployOne({ store }: Served, { full }: PlannedFleet): Promise<string> {
  const signal = AbortSignal.timeout(5000);
  const { applications } = await store.shards.listLagging([full.id], 1, signal);
  const [row] = await store.shards.readApplications(applications, signal);
  if (row === undefined) throw new Error("there is no application");
  const { unit, application, workspace } = row;
  await store.shards.acknowledge([anObject({ instanceId: full.id, subject: application.id, epoch: unit.epoch })], signal);
  return workspace.namespace;
}
