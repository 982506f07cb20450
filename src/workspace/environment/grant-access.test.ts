import { expect, it } from "vitest";
import type { EnvironmentId, InstanceId, WorkspaceId } from "../../domain/ids.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { systemClock } from "../../runtime/clock.ts";
import { anApplicationPlacement } from "../../shard/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createAccountController } from "./grant-access.ts";
import { createTargetClusters } from "./testing/target-clusters.ts";

const never = new AbortController().signal;
const SERVER = "https://prod.example:6443";
const ASK = {
  id: "environment-1" as EnvironmentId,
  workspaceId: "workspace-1" as WorkspaceId,
  request: { apiUrl: SERVER, namespaces: [], clusterResources: false, isInsecure: false, createsAccount: true, secretName: "creds" },
  credential: { server: SERVER, token: "the user's" },
  egress: { allow: [], http: [] },
};

function aController() {
  const clusters = createTargetClusters();
  clusters.serve(SERVER, "the user's");
  const install = (over: Partial<PlacementUnit>) => {
    const units = [
      { ...anApplicationPlacement().unit, phase: "IDLE", owner: "instance-1" as InstanceId, epoch: 7, ...over } as PlacementUnit,
    ];
    const stored = { putCredential: async () => "fingerprint", noteAccount: async () => undefined };
    const credentials = { read: async () => undefined };
    const rows = {
      environments: stored,
      credentials,
      placements: { readUnitsOf: async () => units },
      shards: { readUnit: async () => undefined },
    };
    const tokenLife = { lifeMs: 43_200_000, renewAfterMs: 28_800_000 };
    const parts = { ...rows, accounts: clusters, tokenLife, clock: systemClock, log: silentLog, metrics: noMetrics };
    return createAccountController(parts).install(ASK, never);
  };
  return { clusters, install };
}

it("gives the owner an account, and its successor another one; of the former nothing stays", async () => {
  const { clusters, install } = aController();
  expect(await install({})).toMatchObject({ kind: "installed" });
  const first = clusters.accountsAt(SERVER);
  expect(clusters.holdersAt()).toEqual(first);
  expect(await install({ owner: "instance-2" as InstanceId, epoch: 9 })).toMatchObject({ kind: "installed" });
  const second = clusters.accountsAt(SERVER);
  expect([second.length, second[0] === first[0], clusters.holdersAt()]).toEqual([1, false, second]);
});

it("leaves alone what stands there for a unit that is handed over (I8)", async () => {
  const { clusters, install } = aController();
  expect(await install({ phase: "MOVING" })).toEqual({ kind: "moving" });
  expect([clusters.accountsAt(SERVER), clusters.holdersAt()]).toEqual([[], []]);
});

it("writes no owner binding that a newer epoch wrote, whatever it had read before (I7, I8)", async () => {
  const { clusters, install } = aController();
  await install({ owner: "instance-2" as InstanceId, epoch: 9 });
  const holders = clusters.holdersAt();
  expect(await install({ epoch: 7 })).toMatchObject({ kind: "failed", finding: { reason: "UnableToInstallServiceAccount" } });
  expect(clusters.holdersAt()).toEqual(holders);
});

it("makes none while nothing of the workspace is placed", async () => {
  const { clusters, install } = aController();
  expect(await install({ owner: undefined })).toEqual({ kind: "no-owner" });
  expect(clusters.accountsAt(SERVER)).toEqual([]);
});
