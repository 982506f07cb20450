import { describe, expect, it } from "vitest";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { INSTANCE_NAMESPACES, instanceTypeOf } from "./adapters/kubernetes/types.ts";
import { type FaultKind, faultAt } from "./testing/faults.ts";
import { aFleet, aPool } from "./testing/instances.ts";
import { startWorld, type World } from "./testing/world.ts";

const KINDS: readonly FaultKind[] = ["fails once", "succeeds, and the process ends before it knows"];
/** More calls than a whole life makes. A fault that is set too late to strike ends the search. */
const MOST_CALLS = 400;

/** Creates one instance and retires it, with one fault on the way. Returns whether the fault struck. */
async function liveThrough(at: number, kind: FaultKind): Promise<boolean> {
  const world = await startWorld();
  try {
    const fault = faultAt(at, kind);
    await world.startProvisioner(fault.through);
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 1, max: 1 } })] }));
    const isDead = kind !== "fails once";
    await world.until(
      "it is active or the process has ended",
      async () => (isDead && fault.hasStruck()) || (await stateOf(world)) === "ACTIVE",
    );
    const passwordBefore = await passwordOf(world);
    if (isDead && fault.hasStruck()) await world.startProvisioner();
    await world.until("it is active", async () => (await stateOf(world)) === "ACTIVE");
    if (passwordBefore !== undefined) expect(await passwordOf(world)).toBe(passwordBefore);
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 0, max: 0 } })] }));
    await world.until(
      "it is retired or the process has ended",
      async () => (isDead && fault.hasStruck()) || (await stateOf(world)) === "RETIRED",
    );
    if (isDead && fault.hasStruck()) await world.startProvisioner();
    await world.until("it is retired", async () => (await stateOf(world)) === "RETIRED");
    expect((await world.instances()).length).toBe(1);
    // Also objects that a process wrote late.
    await world.until(
      "nothing is left",
      async () => (await world.hands.listPage<KubeObject>(INSTANCE_NAMESPACES, {}, world.signal)).items.length === 0,
    );
    return fault.hasStruck();
  } finally {
    await world.close();
  }
}

const stateOf = async (world: World) => (await world.instances())[0]?.state;
const passwordOf = async (world: World): Promise<string | undefined> =>
  (
    await world.hands.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(
      instanceTypeOf("Secret"),
      { namespace: "argosy-standard-1", name: "argocd-redis" },
      world.signal,
    )
  )?.data?.["auth"];

describe.each(KINDS)("an instance lives its whole life when any one call %s", (kind) => {
  it("at every call in turn", async () => {
    let at = 0;
    while (at < MOST_CALLS && (await liveThrough(at, kind))) at += 1;
    expect(at).toBeGreaterThan(20);
    expect(at).toBeLessThan(MOST_CALLS);
  });
});
