import { describe, expect, it } from "vitest";
import { DEPLOYER_ROLE } from "../../domain/names.ts";
import { createManagedCluster } from "../../mover/adapters/kubernetes/clusters.ts";
import { judgeAnswer } from "../../mover/proof.ts";
import { ROLE_BINDINGS } from "../../reconciler/adapters/kubernetes/types.ts";
import { createHistory } from "../history.ts";
import { createFailpoints } from "../world/failpoints.ts";
import { createNetwork } from "../world/network.ts";
import { createParty } from "../world/party.ts";
import { createWorld } from "../world/world.ts";
import { createAuthority } from "./authority.ts";
import { createSimulatedClient } from "./kubernetes/client.ts";
import { createKubeServer, NAMESPACE_TYPE } from "./kubernetes/server.ts";

const never = new AbortController().signal;
const USER = "system:serviceaccount:argosy-accounts:owner";
const AT = { namespace: "team", name: "owner" };

/** A users' cluster whose owner binding names the owner, and what it answers to a mover. */
async function aCluster(servers: number) {
  const world = createWorld("authority", createHistory());
  const network = createNetwork(world, createFailpoints(world.rng.fork("faults"), []));
  const server = createKubeServer(world, "api");
  const authority = createAuthority(world, server, servers);
  server.objects.create(NAMESPACE_TYPE, "", { sent: { metadata: { name: "team" } }, dryRun: false });
  const ownerBinding = { metadata: { name: "owner" }, roleRef: { name: DEPLOYER_ROLE }, subjects: [{ name: "owner" }] };
  server.objects.create(ROLE_BINDINGS, "team", { sent: ownerBinding, dryRun: false });
  const managed = createManagedCluster(createSimulatedClient({ world, network, party: createParty(world, "argosy-1"), server }));
  await world.run(1_000);
  const ask = async (forMs = 100) => {
    const asked = managed.ask(USER, "team", never);
    await world.run(forMs);
    const [said] = await asked;
    return judgeAnswer(said?.isAllowed, said?.trial ?? { status: undefined, message: "" }, USER);
  };
  const revoke = (): void => void server.objects.mergePatch(ROLE_BINDINGS, AT, { isStatus: false, dryRun: false, patch: { subjects: [] } });
  return { world, server, authority, ask, revoke };
}

describe("the model of the users' cluster", () => {
  it("lets the owner write, and refuses it in the authoriser's words once the owner binding names nobody", async () => {
    const { world, ask, revoke } = await aCluster(1);
    expect(await ask()).toBe("allowed");
    revoke();
    await world.run(100);
    expect(await ask()).toBe("refused");
  });

  it("does not answer while it stands still, and answers by the present state when it wakes", async () => {
    const { world, authority, ask, revoke } = await aCluster(1);
    authority.freeze(0, 10_000);
    revoke();
    expect(await ask(3_000)).toBe("silent");
    await world.run(10_000);
    expect(await ask()).toBe("refused");
  });

  it("learns changes in order that were made while it stood still, and just before", async () => {
    const { world, server, authority, ask, revoke } = await aCluster(1);
    for (let round = 0; round < 20; round += 1) {
      revoke();
      authority.freeze(0, 1_000);
      server.objects.mergePatch(ROLE_BINDINGS, AT, { isStatus: false, dryRun: false, patch: { subjects: [{ name: "owner" }] } });
      await world.run(2_000);
      expect(await ask()).toBe("allowed");
    }
  });

  it("has servers with different views while one of them stands still", async () => {
    const { authority, ask, revoke } = await aCluster(2);
    authority.freeze(0, 60_000);
    revoke();
    const said = new Set<string>();
    for (let count = 0; count < 10; count += 1) said.add(await ask(3_000));
    expect([...said].sort()).toEqual(["refused", "silent"]);
  });

  it("refuses for a quota in other words than for a missing right", async () => {
    const { authority, ask } = await aCluster(1);
    authority.useUp("team", 10_000);
    expect(await ask()).toBe("allowed");
  });
});
