import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { TokenLife } from "../../domain/account-token.ts";
import { millis } from "../../domain/clock.ts";
import type { Instance } from "../../domain/instance.ts";
import { ANNOTATION_HASH, ANNOTATION_TOKEN_ENDS } from "../../domain/names.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { manifestOf } from "../../shard/managed-object.ts";
import { clusterEntryName, readAccountName } from "../../shard/names.ts";
import { renderClusterEntry } from "../../shard/render-instance.ts";
import { createPromMetrics } from "../../telemetry/prom-metrics.ts";
import { ENGINE_SECRETS, SERVICE_ACCOUNTS } from "../adapters/kubernetes/types.ts";
import { deploying } from "../testing/deploy.ts";
import { eventually, passes } from "../testing/until.ts";
import { DESTINATION, NAMESPACES, startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { deploy, isAcknowledged } = deploying(() => world);
type Entry = KubeObject & { readonly data?: { readonly config?: string } };

const SOON: TokenLife = { lifeMs: 600_000, renewAfterMs: 1_200 };
const accountOf = ({ id }: Instance) => ({ namespace: NAMESPACES.accounts, name: readAccountName(id) });
const entryAt = ({ namespace }: Instance) => ({ namespace, name: clusterEntryName(DESTINATION.server) });
const readEntry = (instance: Instance) => world.hands.engine.get<Entry>(ENGINE_SECRETS, entryAt(instance), world.signal);
const configOf = (entry: Entry | undefined): string => Buffer.from(entry?.data?.config ?? "", "base64").toString();
const tokenOf = async (instance: Instance) => /"bearerToken":"([^"]*)"/.exec(configOf(await readEntry(instance)))?.[1];
const endless = (instance: Instance) => world.hands.api.get(ENGINE_SECRETS, accountOf(instance), world.signal);
const asked = () => world.apiServer.requests().filter(({ method, url }) => method === "POST" && url.endsWith("/token")).length;
const isTokenRequest = { method: "POST", path: /serviceaccounts\/read-[^/]*\/token/ } as const;

/** What an earlier version left: a Secret with a token that never ends, and an entry with that token. */
async function deployAsBefore() {
  const deployed = await deploy();
  const { instance } = deployed;
  const secret = { apiVersion: "v1", kind: "Secret", metadata: accountOf(instance), type: "kubernetes.io/service-account-token" };
  await world.hands.api.create(ENGINE_SECRETS, secret, world.signal);
  const token = { token: "endless", madeAt: millis(0), endsAt: millis(0), accountUid: "" };
  const { metadata, ...entry } = manifestOf(renderClusterEntry(instance, DESTINATION, token));
  const annotations = { [ANNOTATION_HASH]: metadata.annotations[ANNOTATION_HASH] ?? "" };
  await world.hands.engine.create(ENGINE_SECRETS, { ...entry, metadata: { ...metadata, annotations } }, world.signal);
  return deployed;
}

describe("the token by which an instance enters the API cluster", () => {
  test("is renewed again and again, each time before its end, and the entry is never without one", async () => {
    const deployed = await deploy();
    await world.startReconciler(undefined, { tokenLife: SOON });
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    const seen = new Set<string | undefined>();
    await eventually("three tokens", async () => seen.add(await tokenOf(deployed.instance)).size === 3);
    expect(seen).not.toContain(undefined);
  });

  test("is left alone by whoever takes over, until its time has come", async () => {
    const { instance } = await deploy();
    const first = await world.startReconciler();
    await eventually("there is a token", async () => (await tokenOf(instance)) !== undefined);
    await first.stop();
    const before = [await tokenOf(instance), asked()];
    const swept = world.rows.statements()["listOwned"] ?? 0;
    const second = await world.startReconciler();
    await eventually("it has swept", () => (world.rows.statements()["listOwned"] ?? 0) > swept);
    await second.idle();
    expect([await tokenOf(instance), asked()]).toEqual(before);
  });

  test("replaces one without an end: first in the entry, then its Secret goes", async () => {
    const { instance } = await deployAsBefore();
    const release = world.engineServer.faults.hold({ method: "PATCH", path: /secrets\/argosy-cluster-/ });
    await world.startReconciler();
    await eventually("another one is on its way", () =>
      world.engineServer.requests().some(({ method, url }) => method === "PATCH" && url.includes("/secrets/argosy-cluster-")),
    );
    expect([await tokenOf(instance), await endless(instance)]).toEqual(["endless", expect.anything()]);
    release();
    await eventually("the Secret is gone", async () => (await endless(instance)) === undefined);
    expect(await tokenOf(instance)).toContain(`token-of-${readAccountName(instance.id)}`);
    expect((await readEntry(instance))?.metadata.annotations).toHaveProperty([ANNOTATION_TOKEN_ENDS]);
  });

  test("leaves one without an end beside another one for a while: an instance reads its entry a moment later", async () => {
    const { instance } = await deployAsBefore();
    // Tokens say by the machine's clock when they were made.
    const clock = createVirtualClock(Date.now());
    await world.startReconciler(undefined, { clock, formerStaysMs: 60_000 });
    await passes({ clock, withinMs: 30_000 }, "another one stands", async () => (await tokenOf(instance)) !== "endless");
    expect(await endless(instance)).toBeDefined();
    const sinceMs = clock.monotonicMs();
    await passes({ clock, withinMs: 300_000 }, "the Secret is gone", async () => (await endless(instance)) === undefined);
    expect(clock.monotonicMs() - sinceMs).toBeGreaterThan(25_000);
  });

  test("stays where no other is to be had, and so does the Secret of an earlier version; that is counted, and the rest goes on", async () => {
    const deployed = await deployAsBefore();
    const metrics = createPromMetrics({ process: false });
    world.apiServer.faults.fail({ ...isTokenRequest, status: 403, reason: "Forbidden", times: 1_000 });
    await world.startReconciler(undefined, { metrics });
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    await eventually("the failure is counted", async () =>
      (await metrics.text()).includes('argosy_reconciler_token_renewals_total{result="failed"}'),
    );
    expect([await tokenOf(deployed.instance), await endless(deployed.instance)]).toEqual(["endless", expect.anything()]);
  });

  test("is replaced at once when its account was deleted, for it is worth nothing any more", async () => {
    const deployed = await deploy();
    const { instance } = deployed;
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    const before = await tokenOf(instance);
    await world.hands.api.delete(SERVICE_ACCOUNTS, accountOf(instance), {}, world.signal);
    await eventually("there is another token", async () => (await tokenOf(instance)) !== before);
    const uid = (await world.hands.api.get(SERVICE_ACCOUNTS, accountOf(instance), world.signal))?.metadata.uid;
    expect(await tokenOf(instance)).toContain(`-${uid}-`);
  });

  test("is replaced when somebody wrote another one into the entry", async () => {
    const { instance } = await deploy();
    await world.startReconciler();
    await eventually("there is a token", async () => (await tokenOf(instance)) !== undefined);
    const forged = Buffer.from(configOf(await readEntry(instance)).replace(/token-of-[^"]*/, "forged")).toString("base64");
    await world.hands.engine.mergePatch(ENGINE_SECRETS, entryAt(instance), { data: { config: forged } }, world.signal);
    await vi.waitFor(async () => expect(await tokenOf(instance)).toContain("token-of-"), { timeout: 30_000 });
  });
});
