import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { EnvironmentId, InstanceId, UnitId } from "../../../../domain/ids.ts";
import { systemClock } from "../../../../runtime/clock.ts";
import { createSelfSigned } from "../../../../runtime/kube/testing/self-signed.ts";
import { systemRng } from "../../../../runtime/rng.ts";
import { silentLog } from "../../../../telemetry/log.ts";
import { clusterAccount } from "../../account-objects.ts";
import type { ProbeTarget } from "../../port.ts";
import { builtInRules } from "../../reading-rules.ts";
import { createClusterAccounts } from "./cluster-accounts.ts";

const { cert, key } = createSelfSigned(["localhost"]);
const never = new AbortController().signal;
const ACCOUNT = clusterAccount(
  { id: "environment-1" as EnvironmentId, namespaces: ["a", "b"], clusterResources: false },
  { unitId: "unit-1" as UnitId, instanceId: "instance-1" as InstanceId, epoch: 1 },
);
const ROLES = 2;
const NOTHING = { kind: "Status", code: 404, reason: "NotFound", details: { name: "u" } };

type Answer = { readonly status?: number; readonly text: string };

/** A cluster that takes whatever is written, and answers what is served as a test likes. */
let server: Server;
let target: ProbeTarget;
let serve: (path: string) => Answer | "never";
let areRolesThere: boolean;
/** Rules that were written to roles. */
const written: unknown[] = [];
const asked: string[] = [];

beforeAll(async () => {
  server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? "";
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "PATCH") {
        const object = JSON.parse(Buffer.concat(chunks).toString()) as { readonly kind: string; readonly rules?: unknown };
        if (object.kind === "Role") written.push(object.rules);
        return response.end(JSON.stringify(object));
      }
      if (path.startsWith("/apis/rbac.authorization.k8s.io/")) {
        response.statusCode = areRolesThere ? 200 : 404;
        return response.end(JSON.stringify(areRolesThere ? { kind: "Role", metadata: { name: "u" }, rules: [] } : NOTHING));
      }
      if (path.startsWith("/api/v1/")) return response.end(JSON.stringify({ metadata: { uid: "uid-1", resourceVersion: "1" } }));
      asked.push(path);
      const answer = serve(path);
      if (answer === "never") return undefined;
      response.statusCode = answer.status ?? 200;
      return response.end(answer.text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  target = { server: at, token: "t", ca: cert, isInsecure: false, namespace: undefined, egress: { allow: ["127.0.0.0/8"] } };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  for (const list of [written, asked]) list.length = 0;
  areRolesThere = true;
});

const accounts = createClusterAccounts({ clock: systemClock, rng: systemRng, log: silentLog, reserved: async () => [] });
const install = () => accounts.install(target, { account: ACCOUNT }, never);
const aggregated = (items: readonly unknown[]): string => JSON.stringify({ kind: "APIGroupDiscoveryList", items });
const group = (name: string, resources: readonly string[], subresources: readonly string[] = []) => ({
  metadata: { name },
  versions: [
    {
      version: "v1",
      freshness: "Current",
      resources: resources.map((resource) => ({
        ...{ resource, scope: "Namespaced", verbs: ["get", "list", "watch"] },
        subresources: subresources.map((subresource) => ({ subresource, verbs: ["get"] })),
      })),
    },
  ],
});
const text = (value: unknown): Answer => ({ text: JSON.stringify(value) });
const rulesText = () => JSON.stringify(written);

describe("what a user's cluster says that it serves", () => {
  it.each<[string, () => Answer | "never"]>([
    ["an error", () => ({ status: 500, text: "{}" })],
    ["that it may not be asked", () => ({ status: 403, text: "{}" })],
    ["nothing, ever", () => "never"],
    ["what is no JSON", () => ({ text: "<html>" })],
    ["a list of something else", () => text({ kind: "PodList", items: [] })],
    ["null", () => ({ text: "null" })],
    ["more than is read", () => ({ text: aggregated([group("x".repeat(3_000_000), ["things"])]) })],
    ["more groups than a role holds", () => ({ text: aggregated(Array.from({ length: 2_001 }, (_, i) => group(`g${i}.example`, ["a"]))) })],
    ["more old groups than are asked for", () => text({ kind: "APIGroupList", groups: versions(201) })],
  ])(
    "takes nothing from an account that reads already, and keeps none from being made: %s",
    async (_what, answer) => {
      serve = answer;
      expect(await install()).toEqual({ kind: "installed", accountUid: "uid-1" });
      expect(written).toEqual([]);
      expect(await accounts.narrow(target, ACCOUNT, never)).toEqual({});
      expect(written).toEqual([]);
      areRolesThere = false;
      expect(await install()).toEqual({ kind: "installed", accountUid: "uid-1" });
      expect(written).toEqual(Array(ROLES).fill(builtInRules({ isNamespaced: true })));
    },
    60_000,
  );

  const versions = (count: number) => Array.from({ length: count }, (_, i) => ({ versions: [{ groupVersion: `g${i}.example/v1` }] }));

  it("brings no wildcard, no core subresource and no name that is none into a role", async () => {
    const names = ["*", "", "core", "pods/exec", "UPPER.example", "../x", "good.example"];
    serve = () => ({ text: aggregated(names.map((name) => group(name, ["*", "pods", "pods/exec", "a/b"], ["exec", "*"]))) });
    expect(await install()).toMatchObject({ kind: "installed", kindsMark: expect.any(String) });
    expect(written).toHaveLength(ROLES);
    expect(rulesText()).not.toMatch(/\*|exec|UPPER|\.\.|"a\/b"/);
    expect(rulesText()).toContain('{"apiGroups":["good.example"],"resources":["pods"]');
  });

  it("is asked once, in one request, and the same of it is the same mark", async () => {
    serve = () => ({ text: aggregated([group("shop.example", ["orders"], ["status"]), group("vm.example", ["machines"], ["vnc"])]) });
    const first = await install();
    expect(asked).toEqual(["/apis"]);
    expect(await install()).toEqual(first);
    expect(written[0]).toContainEqual({ apiGroups: ["shop.example"], resources: ["*"], verbs: ["get", "list", "watch"] });
    expect(written[0]).toContainEqual({ apiGroups: ["vm.example"], resources: ["machines"], verbs: ["get", "list", "watch"] });
  });

  it("is asked of an older server group by group, and one group that does not answer keeps nobody from the others", async () => {
    const resource = (name: string) => ({ name, namespaced: true, verbs: ["get", "list", "watch"] });
    serve = (path) => {
      if (path === "/apis") {
        const named = ["shop.example/v1", "vm.example/v1", "broken.example/v1", "../../api/v1", "a.example/v1/x"];
        return text({ kind: "APIGroupList", groups: [{ versions: named.map((groupVersion) => ({ groupVersion })) }] });
      }
      if (path === "/apis/shop.example/v1") return text({ resources: [resource("orders"), resource("orders/status")] });
      if (path === "/apis/vm.example/v1") return text({ resources: [resource("machines"), resource("machines/console")] });
      return { status: 503, text: "{}" };
    };
    expect(await install()).toMatchObject({ kind: "installed", kindsMark: expect.any(String) });
    expect(
      asked.filter((path) => !["/apis", "/apis/shop.example/v1", "/apis/vm.example/v1", "/apis/broken.example/v1"].includes(path)),
    ).toEqual([]);
    const [, open, named] = written[0] as readonly unknown[];
    expect(open).toMatchObject({ apiGroups: ["shop.example"], resources: ["*"] });
    expect(named).toMatchObject({ apiGroups: ["vm.example"], resources: ["machines"] });
  });
});
