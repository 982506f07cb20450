import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderTokenReviewRights } from "../../cli/install/roles.ts";
import { parseConfig } from "../../config.ts";
import { type Clock, millis } from "../../domain/clock.ts";
import { SYSTEM_NAMESPACE } from "../../domain/names.ts";
import { makeIdentities } from "../../main/identities.ts";
import { systemClock } from "../../runtime/clock.ts";
import { loadKubeconfig } from "../../runtime/kube/auth.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createKubeClient } from "../../runtime/kube/http.ts";
import { NAMESPACES } from "../../runtime/kube/namespaces.ts";
import { type ResourceType, resourcePath } from "../../runtime/kube/resource.ts";
import { realApiServer } from "../../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../runtime/rng.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import type { Recognised } from "./port.ts";

const kubeconfig = await realApiServer();
const never = new AbortController().signal;
const NAMESPACE = "argosy-callers";
const SERVICE_ACCOUNTS: ResourceType = { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true };
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: false } as const;
const ROLES = [
  { role: "operator", names: [`system:serviceaccount:${NAMESPACE}:builder`] },
  { role: "viewer", groups: [`system:serviceaccounts:${NAMESPACE}`], workspaces: ["team-*"] },
];

describe.runIf(kubeconfig !== undefined)("a token of a real API server", () => {
  let passedMs = 0;
  const clock: Clock = { now: () => millis(systemClock.now() + passedMs), monotonicMs: () => passedMs, after: systemClock.after };
  const open: KubeClient[] = [];
  let admin: KubeClient;
  const clientWith = (token?: string): KubeClient => {
    const own = loadKubeconfig({ file: kubeconfig ?? "" });
    const { server, ca } = own;
    const credentials = token === undefined ? own : { server, ...(ca === undefined ? {} : { ca }), token: async () => token };
    const client = createKubeClient({ cluster: "real", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
    open.push(client);
    return client;
  };
  const account = (name: string, namespace = NAMESPACE): Promise<unknown> =>
    admin.apply(
      SERVICE_ACCOUNTS,
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
      { fieldManager: "test" },
      never,
    );
  const tokenOf = async (name: string, spec: object, namespace = NAMESPACE): Promise<string> => {
    const { status } = await admin.request<{ readonly status: { readonly token: string } }>(
      {
        method: "POST",
        path: resourcePath(SERVICE_ACCOUNTS, { namespace, name, subresource: "token" }),
        body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec },
      },
      never,
    );
    return status.token;
  };
  const identitiesBy = (client: KubeClient, settings: object = {}) => {
    const parsed = parseConfig({ authentication: { kubernetes: { roles: ROLES, ...settings } } }, {});
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.complaints));
    const { recognise } = makeIdentities({ config: parsed.config, clock, log: silentLog, apiCluster: client });
    return (token: string): Promise<Recognised> => recognise(`Bearer ${token}`);
  };

  beforeAll(async () => {
    admin = clientWith();
    for (const name of [NAMESPACE, SYSTEM_NAMESPACE])
      await admin.apply(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { fieldManager: "test" }, never);
    for (const name of ["builder", "other", "leaving"]) await account(name);
  });
  afterAll(async () => {
    await admin?.delete(NAMESPACES, { namespace: "", name: NAMESPACE }, {}, never).catch(() => undefined);
    await Promise.all(open.map((client) => client.close()));
  });

  it("says who the account is, with its role and until when", async () => {
    const found = await identitiesBy(admin)(await tokenOf("builder", { audiences: ["argosy"], expirationSeconds: 600 }));
    expect(found).toMatchObject({
      kind: "caller",
      caller: {
        ...{ name: `serviceaccount:${NAMESPACE}/builder`, way: "kubernetes", role: "operator", until: expect.any(Number) },
        // The role of its group, a lower one with a limit, is included in that.
        grants: [{ role: "operator" }],
      },
    });
  });

  it("has the role of its groups", async () => {
    const found = await identitiesBy(admin)(await tokenOf("other", { audiences: ["argosy"] }));
    expect(found).toMatchObject({ kind: "caller", caller: { role: "viewer", grants: [{ scope: { workspaces: ["team-*"] } }] } });
  });

  it("of an account without a role is refused", async () => {
    await account("default", SYSTEM_NAMESPACE);
    const found = await identitiesBy(admin)(await tokenOf("default", { audiences: ["argosy"] }, SYSTEM_NAMESPACE));
    expect(found).toMatchObject({
      kind: "refused",
      status: 403,
      code: "api.no-role",
      detail: expect.stringContaining("system:serviceaccounts"),
    });
  });

  it("is refused: one that was made for the API server, which every pod has, and one for somebody else", async () => {
    const recognise = identitiesBy(admin);
    for (const spec of [{}, { audiences: ["vault"] }])
      expect(await recognise(await tokenOf("builder", spec))).toMatchObject({ kind: "refused", status: 401, code: "api.token-refused" });
    expect(await identitiesBy(admin, { audiences: ["vault"] })(await tokenOf("builder", { audiences: ["vault"] }))).toMatchObject({
      kind: "caller",
    });
  });

  it("is refused: one with another account's claims under a good signature", async () => {
    const [head, body = "", signature] = (await tokenOf("other", { audiences: ["argosy"] })).split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: `system:serviceaccount:${NAMESPACE}:builder` })).toString("base64url");
    expect(await identitiesBy(admin)(`${head}.${forged}.${signature}`)).toMatchObject({ kind: "refused", status: 401 });
  });

  it("works for as long as is configured after its account was deleted, and no longer", async () => {
    const recognise = identitiesBy(admin, { rememberMs: 10_000 });
    const token = await tokenOf("leaving", { audiences: ["argosy"] });
    expect(await recognise(token)).toMatchObject({ kind: "caller" });
    await admin.delete(SERVICE_ACCOUNTS, { namespace: NAMESPACE, name: "leaving" }, {}, never);
    passedMs += 9_999;
    expect(await recognise(token)).toMatchObject({ kind: "caller" });
    // The API server itself believes what it found out about a token for ten seconds.
    await expect
      .poll(
        async () => {
          passedMs += 10_001;
          return (await recognise(token)).kind;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe("refused");
  });

  it("needs the right that the installation gives where it is configured: without it nobody gets in, and is asked to try again", async () => {
    for (const name of ["argosy-api-cluster", "nobody"]) await account(name, SYSTEM_NAMESPACE);
    for (const object of renderTokenReviewRights("one-account")) {
      const plural = object.kind === "ClusterRole" ? "clusterroles" : "clusterrolebindings";
      await admin.apply({ ...RBAC, plural, kind: object.kind }, object, { fieldManager: "test" }, never);
    }
    const token = await tokenOf("builder", { audiences: ["argosy"] });
    const as = async (name: string) => identitiesBy(clientWith(await tokenOf(name, {}, SYSTEM_NAMESPACE)))(token);
    expect(await as("nobody")).toMatchObject({ kind: "refused", status: 503, code: "api.identity-away" });
    await expect.poll(async () => (await as("argosy-api-cluster")).kind, { timeout: 30_000 }).toBe("caller");
  });
});
