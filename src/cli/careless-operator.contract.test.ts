import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tokenHash } from "../api/auth.ts";
import { type Api, createApi } from "../api/server.ts";
import { idleDeps } from "../api/testing/served.ts";
import { approvalsFor } from "../domain/fleet-approval.ts";
import type { Instance } from "../domain/instance.ts";
import { declarationOf } from "../instance-provisioner/declaration.ts";
import { planFleet } from "../instance-provisioner/fleet-plan.ts";
import { parseFleetDocument } from "../instance-provisioner/fleet-schema/parse-fleet.ts";
import { renderFleetDocument } from "../instance-provisioner/fleet-schema/render-fleet.ts";
import { createRolloutRequests } from "../rollout/request-rollouts.ts";
import { systemClock } from "../runtime/clock.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import { aDecision, aFleet, anInstance, aToken } from "../store/testing/builders.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../store/testing/test-server.ts";
import { soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand } from "./testing/run-command.ts";

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const release = (version: string, letter = "a") => ({
  version,
  image: `images.example/argocd:v3.5.7@${digest(letter)}`,
  redisImage: `images.example/redis@${digest("b")}`,
  crds: "/crds/3.5.7",
});
const capacity = { applications: 1000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 2000, gitPerMinute: 600 };
const DOCUMENT = {
  apiVersion: "argosy.dev/v1alpha1",
  kind: "Fleet",
  engineClusters: [{ name: "here", region: "eu", inCluster: true }],
  versions: { default: "3.5.7", floor: "3.5.1", catalogue: [release("3.5.7")] },
  pools: [
    {
      name: "standard",
      class: { region: "eu", tier: "shared", trust: "public" },
      engineClusters: ["here"],
      instances: { min: 4, max: 9 },
      capacity,
    },
  ],
  workspaces: { everyNamespace: true, quota: { deployments: 100 } },
  deployments: { allowedGroups: [] },
  egress: { allow: ["10.1.0.0/16"], http: [] },
};
const OTHER = { ...DOCUMENT, versions: { ...DOCUMENT.versions, catalogue: [release("3.5.7", "c")] } };
const BUILD = { ...DOCUMENT, versions: { ...DOCUMENT.versions, catalogue: [release("3.5.7"), release("3.5.7-2", "c")] } };

const tokens = {
  viewer: "argosy_viewer_0123456789",
  operator: "argosy_operator_0123456789",
  approver: "argosy_approver_0123456789",
  second: "argosy_second_01234567890",
} as const;
type Who = keyof typeof tokens;
const directory = mkdtempSync(join(tmpdir(), "argosy-careless-"));
let server: TestServer;
let database: TestDatabase;
let store: Store;
let api: Api;
let url: string;
let instances: readonly Instance[];

beforeAll(async () => {
  server = await startTestServer();
  database = await server.createMigrated();
  store = await createPostgresStore({ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 4 });
  api = await createApi({
    ...idleDeps(createMemoryStore({ clock: systemClock })),
    ...{ store, parseFleet: parseFleetDocument, renderFleet: (spec) => ({ ...renderFleetDocument(spec) }), planFleet },
    rollouts: createRolloutRequests({ store, clock: systemClock, ids: createCountingIds() }),
  });
  url = await api.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await api.close();
  await store.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});
/** A fleet whose four instances run 3.5.7. */
beforeEach(async () => {
  await server.clear(database.url);
  for (const name of Object.keys(tokens) as Who[])
    await store.tokens.put(
      aToken({ name, role: name === "second" ? "approver" : name, hash: tokenHash(tokens[name]), createdBy: "database:root" }),
      undefined,
      soon(),
    );
  expect((await put(DOCUMENT, "operator")).status).toBe(200);
  const added = [1, 2, 3, 4].map((index) =>
    anInstance({
      ...{ name: `standard-${index}`, pool: "standard", class: "eu/shared/public", engineCluster: "here", state: "ACTIVE" },
      ...{ version: "3.5.7", desiredVersion: "3.5.7" },
    }),
  );
  for (const one of added) await store.fleet.insertInstance(one, aDecision({ subject: one.id, kind: "instance" }), soon());
  instances = added;
});

const call = (method: string, path: string, who: Who, body?: object) => callAs(tokens[who], method, path, body);
async function callAs(token: string, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
}
const put = (document: object, who: Who) => call("PUT", "/v1/fleet", who, document);
const decide = (id: unknown, what: string, who: Who) => call("POST", `/v1/fleet/proposals/${String(id)}/${what}`, who, {});
/** The images that the instances are to run at this moment. */
async function images(): Promise<readonly string[]> {
  const spec = (await store.fleet.readFleet(soon()))?.spec;
  const rows = await store.fleet.listInstances(soon());
  const rendered = rows.map((one) => declarationOf(one, spec, { systemNamespace: "argosy-system" }));
  return [...new Set(rendered.map((one) => (one.kind === "renderable" ? one.parameters.release.image : one.reason)))];
}
const run = (args: readonly string[], who: Who) =>
  runCommand(args, { ARGOSY_STATE: directory, ARGOSY_URL: url, ARGOSY_TOKEN: tokens[who] });
function fileOf(document: object): string {
  const file = join(directory, "fleet.json");
  writeFileSync(file, JSON.stringify(document));
  return file;
}

describe("P7: a release image changed by an operator alone", () => {
  it.each<[string, object]>([
    ["under the version that runs", OTHER],
    [
      "by its tag",
      { ...OTHER, versions: { ...OTHER.versions, catalogue: [{ ...release("3.5.7"), image: "images.example/argocd:v3.5.7" }] } },
    ],
    ["of redis", { ...OTHER, versions: { ...OTHER.versions, catalogue: [{ ...release("3.5.7"), redisImage: `x@${digest("c")}` }] } }],
  ])("%s is refused, and nothing runs another image", async (_way, document) => {
    const before = await images();
    for (const who of ["operator", "approver"] as const)
      expect(await put(document, who)).toMatchObject({
        status: 422,
        body: { complaints: [{ path: expect.stringMatching(/^versions\.catalogue\[0\]\./), remedy: expect.stringContaining("3.5.7-2") }] },
      });
    expect(await images()).toEqual(before);
  });

  it("is refused too when the catalogue left the version out in between", async () => {
    const newer = { ...DOCUMENT, versions: { ...DOCUMENT.versions, default: "3.5.8", catalogue: [release("3.5.8", "d")] } };
    const { body } = await put(newer, "operator");
    expect((await decide(body["id"], "approve", "approver")).status).toBe(200);
    expect(await put(OTHER, "operator")).toMatchObject({ status: 422, body: { code: "fleet.invalid" } });
  });

  it("as a build of its own waits for somebody else, and goes by a rollout in waves then", async () => {
    const before = await images();
    const proposed = await put(BUILD, "operator");
    expect(proposed).toMatchObject({
      status: 202,
      body: {
        state: "OPEN",
        actor: "operator",
        base: 1,
        needs: [{ path: "versions.catalogue.3.5.7-2.crds" }, { after: JSON.stringify(release("3.5.7-2", "c").image) }, {}],
      },
    });
    const { id } = proposed.body;
    expect(await call("POST", "/v1/rollouts", "operator", { version: "3.5.7-2" })).toMatchObject({ status: 422 });
    expect(await decide(id, "approve", "operator")).toMatchObject({ status: 403, body: { code: "api.role" } });
    expect(await decide(id, "approve", "approver")).toMatchObject({ status: 200, body: { state: "APPROVED", end: { actor: "approver" } } });
    expect(await images()).toEqual(before);
    const { status, body: rollout } = await call("POST", "/v1/rollouts", "operator", { version: "3.5.7-2" });
    const waves = rollout["waves"] as readonly { readonly instances: readonly object[] }[];
    expect([status, waves.length > 1, waves.flatMap((wave) => wave.instances).length]).toEqual([200, true, instances.length]);
    expect(await images()).toEqual(before);
    const entries = await store.decisions.list({ kind: "fleet" }, 10, soon());
    expect(entries.map(({ verdict, details }) => [verdict, details.actor])).toEqual([
      ["APPROVED", "approver"],
      ["DECLARED", "approver"],
      ["PROPOSED", "operator"],
      ["DECLARED", "operator"],
    ]);
    expect(entries[1]?.details).toMatchObject({ proposedBy: "operator", proposal: id });
  });

  it("is not approved by the approver who proposed it, with a token that he has made for that, or one made with that one", async () => {
    const { body: proposal } = await put(BUILD, "approver");
    let secret: string = tokens.approver;
    for (const name of ["puppet", "puppet-of-puppet"]) {
      const made = await callAs(secret, "POST", "/v1/tokens", { name, role: "approver" });
      expect(made.status).toBe(201);
      secret = String(made.body["token"]);
      expect(await callAs(secret, "POST", `/v1/fleet/proposals/${String(proposal["id"])}/approve`, {})).toMatchObject({
        ...{ status: 422, body: { code: "api.own-proposal" } },
      });
    }
    expect((await decide(proposal["id"], "approve", "second")).status).toBe(200);
  });

  it("is not approved by the approver who proposed it", async () => {
    const { body } = await put(BUILD, "approver");
    expect(await decide(body["id"], "approve", "approver")).toMatchObject({ status: 422, body: { code: "api.own-proposal" } });
    expect(await decide(body["id"], "approve", "second")).toMatchObject({ status: 200 });
  });
});

describe("what decides whom to trust, changed by an operator alone", () => {
  it("waits, with the whole document", async () => {
    const mixed = { ...DOCUMENT, egress: { allow: ["0.0.0.0/0"] }, workspaces: { everyNamespace: true, quota: { deployments: 7 } } };
    expect(await put(mixed, "operator")).toMatchObject({
      status: 202,
      body: { needs: [{ path: "egress.allow" }] },
    });
    const { spec, revision } = (await store.fleet.readFleet(soon())) ?? {};
    expect([revision, spec?.workspaces.quota.deployments]).toEqual([1, 100]);
  });

  it("as an engine cluster with a user's Secret for its kubeconfig is refused", async () => {
    const stolen = { name: "there", region: "eu", kubeconfigSecret: "team-payments/my-kubeconfig" };
    expect(await put({ ...DOCUMENT, engineClusters: [...DOCUMENT.engineClusters, stolen] }, "approver")).toMatchObject({
      status: 422,
      body: { complaints: [{ path: "engineClusters[1].kubeconfigSecret" }] },
    });
  });

  it("does not come in with a document that was read before somebody else's was approved", async () => {
    const fewer = { ...DOCUMENT, egress: { allow: [], http: [] } };
    const { body } = await put(fewer, "operator");
    const [approved, late] = await Promise.all([decide(body["id"], "approve", "approver"), put(DOCUMENT, "operator")]);
    expect(approved.status).toBe(200);
    expect([200, 202]).toContain(late.status);
    expect((await store.fleet.readFleet(soon()))?.spec.egress.allow).toEqual([]);
  });

  it("is not what making and letting go of instances changes", async () => {
    await call("POST", "/v1/instances", "operator", { name: "standard-5" });
    await call("POST", "/v1/instances/standard-4/retire", "operator", {});
    const after = await store.fleet.readFleet(soon());
    expect(after?.revision).toBeGreaterThan(1);
    expect(approvalsFor(parsed(DOCUMENT), after?.spec ?? aFleet())).toEqual([]);
  });
});

function parsed(document: object) {
  const result = parseFleetDocument(document);
  if (!result.ok) throw new Error(JSON.stringify(result.complaints));
  return result.spec;
}

describe("a proposal", () => {
  it("counts only while what it was made from is in force", async () => {
    const { body } = await put(BUILD, "operator");
    expect((await put({ ...DOCUMENT, workspaces: { everyNamespace: true, quota: { deployments: 7 } } }, "operator")).status).toBe(200);
    expect(await decide(body["id"], "approve", "approver")).toMatchObject({ status: 409, body: { code: "api.proposal-outdated" } });
    expect((await call("GET", `/v1/fleet/proposals/${String(body["id"])}`, "viewer")).body).toMatchObject({ state: "OUTDATED" });
    const again = await put(BUILD, "operator");
    expect(await decide(again.body["id"], "approve", "approver")).toMatchObject({ status: 200 });
  });

  it("is one, however often and by whomever the same is asked for", async () => {
    const [one, other] = [await put(BUILD, "operator"), await put(BUILD, "second")];
    expect(other.body).toMatchObject({ id: one.body["id"], actor: "operator" });
  });

  it("ends once: approved by two at the same moment, it is declared once", async () => {
    const { body } = await put(BUILD, "operator");
    const answers = await Promise.all([decide(body["id"], "approve", "approver"), decide(body["id"], "approve", "second")]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect((await store.fleet.readFleet(soon()))?.revision).toBe(2);
  });

  it("is rejected by approvers and withdrawn by who made it", async () => {
    const one = (await put(BUILD, "operator")).body["id"];
    expect(await decide(one, "withdraw", "approver")).toMatchObject({ status: 422 });
    expect(await decide(one, "reject", "operator")).toMatchObject({ status: 403 });
    expect(await decide(one, "withdraw", "operator")).toMatchObject({ status: 200, body: { state: "WITHDRAWN" } });
    const other = (await put(BUILD, "operator")).body["id"];
    expect(other).not.toBe(one);
    expect(await decide(other, "reject", "approver")).toMatchObject({ status: 200, body: { state: "REJECTED" } });
    expect(await decide(other, "approve", "approver")).toMatchObject({ status: 409 });
    expect(await images()).toEqual([release("3.5.7").image]);
  });

  it("of a release that failed in a rollout meanwhile is refused", async () => {
    const { body } = await put({ ...BUILD, versions: { ...BUILD.versions, default: "3.5.7-2" } }, "operator");
    await server.query(
      "insert into rollout (id, state, version, created_at, document, revision) values ('r', 'FAILED', '3.5.7-2', now(), '{}', 1)",
      database.url,
    );
    await server.query(
      "insert into frozen_version (version, rollout, reason, at) values ('3.5.7-2', 'r', 'it crashes', now())",
      database.url,
    );
    expect(await decide(body["id"], "approve", "approver")).toMatchObject({
      status: 422,
      body: { code: "fleet.invalid", detail: expect.stringContaining("is frozen") },
    });
  });
});

describe("argosy apply and argosy fleet", () => {
  it("say that a declaration waits, for what and for whom, and take it on from there", async () => {
    const applied = await run(["apply", "-f", fileOf(BUILD)], "operator");
    expect(applied.code).toBe(3);
    expect(applied.out).toMatch(/^fleet unchanged \(revision 1 is in force\): proposal \S+ waits for an approver who is not operator/);
    expect(applied.out).toContain("versions.catalogue.3.5.7-2.image");
    const { id } = JSON.parse((await run(["apply", "-f", fileOf(BUILD), "-o", "json"], "operator")).out) as { readonly id: string };
    expect((await run(["fleet", "proposals"], "viewer")).out).toContain("OPEN");
    expect((await run(["fleet", "show", id.slice(0, 13)], "viewer")).out).toContain(`proposal ${id} is OPEN`);
    expect(await run(["fleet", "approve", id], "operator")).toMatchObject({ code: 1 });
    expect(await run(["fleet", "approve", id], "approver")).toMatchObject({ code: 0, out: expect.stringContaining("APPROVED") });
    expect(await run(["apply", "-f", fileOf(BUILD)], "operator")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^fleet unchanged \(revision 2 is in force\)/),
    });
  });

  it("ends with 0 where a Job declares what waits", async () => {
    expect(await run(["apply", "-f", fileOf(BUILD), "--may-wait"], "operator")).toMatchObject({ code: 0 });
  });

  it("says in a dry run what would wait, and proposes nothing", async () => {
    const { out, code } = await run(["apply", "-f", fileOf(BUILD), "--dry-run"], "operator");
    expect([code, out.includes("needs an approver who is somebody else")]).toEqual([0, true]);
    expect((await call("GET", "/v1/fleet/proposals", "viewer")).body).toEqual({ items: [] });
  });
});
