import type { FleetStore } from "../../store/fleet/port.ts";
import { type DoorPolicy, doorPolicy } from "../door-policy.ts";

/** Reads what the declared fleet means for the users' doors; `undefined` while none is declared. */
export async function readDoorPolicy(
  fleet: Pick<FleetStore, "readFleet" | "listInstances">,
  signal: AbortSignal,
): Promise<DoorPolicy | undefined> {
  const [stored, instances] = [await fleet.readFleet(signal), await fleet.listInstances(signal)];
  return stored === undefined ? undefined : doorPolicy(stored.spec, instances);
}
