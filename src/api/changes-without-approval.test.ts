import { describe, expect, it } from "vitest";
import type { FleetSpec } from "../domain/fleet.ts";
import { approvalsFor } from "../domain/fleet-approval.ts";
import { asLoadVector } from "../domain/load.ts";
import { aFleet, anInstance, aPool } from "../store/testing/builders.ts";
import { planCreation, planDeletion } from "./instance-orders.ts";
import type { PlannedChange } from "./port.ts";
import { withCapacity } from "./with-capacity.ts";

const DIGEST = `@sha256:${"a".repeat(64)}`;
const SPEC = aFleet({
  versions: {
    ...aFleet().versions,
    catalogue: [{ version: "3.5.7", image: `argocd${DIGEST}`, redisImage: `redis${DIGEST}`, crds: "/crds" }],
  },
  pools: [aPool("standard", { instances: { min: 1, max: 9 } })],
  egress: { allow: ["10.1.0.0/16"], apiServers: ["10.0.0.1/32"], http: ["git.example"], sshKnownHosts: "git.example ssh-ed25519 AAAA" },
  deployments: { allowedGroups: [], refusedGroups: ["kyverno.io"] },
});
const INSTANCE = anInstance({ name: "standard-1", pool: "standard", class: "eu/shared/public" });

/** The one instance more that its pool gets. */
const planned = (spec: FleetSpec): readonly PlannedChange[] =>
  spec.pools.flatMap(({ name, instances }) =>
    Array.from({ length: instances.min - 1 }, (_, index) => ({
      ...{ instance: `${name}-${index + 2}`, pool: name, change: "created" as const, units: 0, reason: "" },
    })),
  );

const specOf = (order: ReturnType<typeof planCreation>): FleetSpec | undefined => (order.kind === "carry-out" ? order.spec : undefined);

describe("what changes a declaration without a second person", () => {
  it.each<[string, FleetSpec | undefined]>([
    // The quarantine of a workspace makes its instance by the same function.
    ["argosy instance create, and a quarantine", specOf(planCreation("standard-2", { spec: SPEC, instances: [INSTANCE] }, planned))],
    ["argosy instance delete", specOf(planDeletion(INSTANCE, 0, { spec: SPEC, instances: [INSTANCE] }))],
    [
      "argosy calibrate --apply",
      withCapacity(
        SPEC,
        "standard",
        asLoadVector({ applications: 1, clusterEntries: 2, cachedResources: 3, milliCpu: 4, gitPerMinute: 5 }),
      ),
    ],
  ])("touches nothing that needs one: %s", (_what, changed) => {
    expect(changed).toBeDefined();
    expect(changed).not.toEqual(SPEC);
    expect(approvalsFor(SPEC, changed ?? SPEC)).toEqual([]);
  });
});
