import { afterEach, expect, it, vi } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import type { MemberId } from "../domain/ids.ts";
import type { Role } from "../domain/role.ts";
import type { KubeClient, KubeRequest } from "../runtime/kube/client.ts";
import { systemRng } from "../runtime/rng.ts";
import { createVirtualClock, settle } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createHealthRegistry } from "../telemetry/health.ts";
import { silentLog } from "../telemetry/log.ts";
import { createOwnRights } from "./own-rights.ts";

const never = new AbortController().signal;
const ADA = "ada" as MemberId;
const USER = "system:serviceaccount:argosy-system:argosy-workspace";
const open: { stop(): Promise<void> }[] = [];
afterEach(() => Promise.all(open.splice(0).map((each) => each.stop())));

/** A process of role workspace, at an API server that allows whatever is not refused now. */
function world({
  roles = ["workspace"],
  reviewsTokens = false,
  fleet,
}: {
  readonly roles?: readonly Role[];
  readonly reviewsTokens?: boolean;
  /** Of a process in the API cluster; absent: it is elsewhere. */
  readonly fleet?: Parameters<typeof createOwnRights>[0]["fleet"];
} = {}) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const readiness = createHealthRegistry();
  const refused = new Set<string>();
  const said: string[] = [];
  const server = { isAway: false };
  let reviews = 0;
  const request = async ({ path, body }: KubeRequest): Promise<unknown> => {
    if (server.isAway) throw new UnavailableError("asking", { code: "kube.unreachable" });
    if (path.endsWith("/selfsubjectreviews")) return { status: { userInfo: { username: USER, groups: ["system:authenticated"] } } };
    reviews += 1;
    const { resourceAttributes } = (body as { readonly spec: { readonly resourceAttributes: { readonly resource: string } } }).spec;
    return { status: { allowed: !refused.has(resourceAttributes.resource) } };
  };
  const rights = createOwnRights({
    ...{ clock, rng: systemRng, readiness, memberId: ADA, members: store.members, fleet: fleet ?? store.fleet },
    log: {
      ...silentLog,
      error: (_fields, message) => void said.push(message ?? ""),
      info: (_fields, message) => void said.push(message ?? ""),
    },
    client: { request } as unknown as KubeClient,
    roles,
    isInApiCluster: fleet !== undefined,
    reviewsTokens,
  });
  open.push(rights);
  return { clock, store, readiness, refused, said, server, rights, reviews: () => reviews, check: () => readiness.report().checks[0] };
}

it("is not ready before its account has had every right, says which one is missing, and goes on by itself", async () => {
  const { clock, refused, said, rights, check } = world();
  refused.add("events");
  await rights.start(never);
  expect(check()).toMatchObject({ name: "permissions", ok: false });
  expect(check()?.detail).toMatch(
    /argosy-workspace \(role workspace\) has no right to: create, patch events\. .*argosy manifests.*helm upgrade/,
  );
  await clock.advance(60_000);
  await rights.ask();
  expect(said).toEqual(["Rights are missing: what needs them fails"]);
  refused.clear();
  await clock.advance(60_000);
  await settle();
  await rights.ask();
  expect(check()).toMatchObject({ ok: true, detail: `all there, as ${USER}` });
  expect(said).toHaveLength(2);
});

it("stays ready when it loses a right that it had, and says so", async () => {
  const { refused, said, rights, check } = world();
  await rights.start(never);
  expect(check()).toMatchObject({ ok: true });
  refused.add("secrets");
  await rights.ask();
  expect(check()).toMatchObject({
    ok: true,
    detail: expect.stringContaining("has no right to: get, list, watch secrets; get secrets in argosy-system"),
  });
  expect(said).toEqual(["Rights are missing: what needs them fails"]);
});

it("asks as whom it acts every minute, and for rights that were all there every ten minutes", async () => {
  const { clock, reviews, rights } = world();
  await rights.start(never);
  const atStart = reviews();
  await clock.advance(60_000);
  await settle();
  expect(reviews()).toBe(atStart);
  for (let minute = 1; minute < 12; minute += 1) {
    await clock.advance(60_000);
    await settle();
  }
  expect(reviews()).toBe(2 * atStart);
});

it("asks within a minute for rights that a fleet needs which was declared meanwhile", async () => {
  const engineClusters: object[] = [];
  const readFleet = async () => ({ spec: { engineClusters } }) as never;
  const { clock, refused, rights, said, check } = world({ roles: ["provisioner"], fleet: { readFleet } });
  await rights.start(never);
  expect(check()).toMatchObject({ ok: true });
  refused.add("deployments");
  engineClusters.push({ access: { kind: "inCluster" } });
  await clock.advance(60_000);
  await settle();
  expect(said).toEqual(["Rights are missing: what needs them fails"]);
});

it("is ready while its API server does not answer, which proves nothing", async () => {
  const { server, rights, check, refused } = world();
  server.isAway = true;
  await rights.start(never);
  expect(check()).toMatchObject({ ok: true, detail: "not asked yet" });
  server.isAway = false;
  refused.add("events");
  await rights.ask();
  expect(check()).toMatchObject({ ok: false });
});

it("keeps as whom it acts as soon as it counts as alive", async () => {
  const { clock, store, rights } = world();
  await rights.start(never);
  await store.members.heartbeat(ADA, ["workspace"], 600_000, never);
  await clock.advance(1_000);
  const account = { user: USER, groups: ["system:authenticated"] };
  await vi.waitFor(async () => expect(await store.members.listLive(never)).toEqual([{ id: ADA, roles: ["workspace"], account }]));
});

it("asks again soon when the API server did not answer at the start", async () => {
  const { clock, server, store, rights } = world();
  await store.members.heartbeat(ADA, ["workspace"], 600_000, never);
  server.isAway = true;
  await rights.start(never);
  server.isAway = false;
  await clock.advance(1_000);
  const account = { user: USER, groups: ["system:authenticated"] };
  await vi.waitFor(async () => expect(await store.members.listLive(never)).toEqual([{ id: ADA, roles: ["workspace"], account }]));
});

it("asks for the right to review tokens where they are accepted, and names what gives it", async () => {
  const { refused, rights, check } = world({ roles: ["api"], reviewsTokens: true });
  refused.add("tokenreviews");
  await rights.start(never);
  expect(check()?.detail).toMatch(/create tokenreviews\.authentication\.k8s\.io\. .*argosy manifests --for api --token-reviews/);
  const without = world({ roles: ["api"], reviewsTokens: false });
  without.refused.add("tokenreviews");
  await without.rights.start(never);
  expect(without.check()).toMatchObject({ ok: true });
});
