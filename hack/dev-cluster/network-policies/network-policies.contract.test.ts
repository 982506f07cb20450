import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { NAMESPACES } from "../../../src/runtime/kube/namespaces.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../src/runtime/kube/testing/fake-api-server.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import { silentLog } from "../../../src/telemetry/log.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import { podType } from "../process-node/pod.ts";
import { policyType } from "./cluster-objects.ts";
import { createPolicyEnforcer, type PolicyEnforcer } from "./enforcer.ts";
import { createPolicyTable } from "./nft.ts";
import { planRules } from "./plan-rules.ts";
import { renderRules } from "./render-rules.ts";
import { anyCluster } from "./testing/any-cluster.ts";
import { type Host, type Lab, startLab, type Target, type Topology, whyNoLab } from "./testing/network-lab.ts";
import { aNamespace, aPod, aPolicy, createPod, type PodObject, type PolicySpec, stateOf } from "./testing/objects.ts";

const missing = whyNoLab();
if (missing !== undefined) process.stdout.write(`contract: network policies are not tried on this machine: ${missing}\n`);

const signal = new AbortController().signal;
/** How long an answer may take that has to come. */
const GENEROUS_MS = 20_000;
/** How long to wait for an answer that must not come. One that would come takes well under a millisecond. */
const QUIET_MS = 400;

const SERVICE = "10.96.0.10";
const web = { matchLabels: { app: "web" } };
const client = { matchLabels: { app: "client" } };
const OTHER_OUTSIDE = "203.0.113.200";

describe.skipIf(missing !== undefined).each<Topology>(["bridge", "ptp"])(
  "network policies of pods that are connected by %s",
  (topology) => {
    let lab: Lab;
    let server: FakeApiServer;
    let enforcer: PolicyEnforcer;
    let hosts: { readonly web: Host; readonly client: Host; readonly other: Host; readonly far: Host };

    const podOf = (at: string, host: Host, pod: Parameters<typeof aPod>[2] = {}): PodObject =>
      aPod(at, host.ip, { ...pod, status: { podIPs: [{ ip: host.ip }, { ip: host.ip6 }] } });

    beforeAll(async () => {
      lab = await startLab(topology);
      const [first, second, third, fourth] = [
        await lab.addPod("web", 2),
        await lab.addPod("client", 3),
        await lab.addPod("other", 4),
        await lab.addPod("far", 5),
      ];
      hosts = { web: first, client: second, other: third, far: fourth };
      for (const host of [...Object.values(hosts), lab.outside]) {
        for (const port of [8080, 9090]) await host.listen("TCP", port);
        await host.listen("UDP", 5353);
      }
      await lab.run("nft", serviceRules(hosts.web.ip));
      server = await startFakeApiServer();
      server.load(NAMESPACES, [aNamespace("shop"), aNamespace("far", { team: "far" })]);
      const ports = [
        { name: "http", containerPort: 8080 },
        { name: "dns", containerPort: 5353, protocol: "UDP" as const },
      ];
      const pods = [
        podOf("shop/web", hosts.web, { labels: { app: "web" }, ports }),
        podOf("shop/client", hosts.client, { labels: { app: "client" } }),
        podOf("shop/other", hosts.other, { labels: { app: "other" } }),
        podOf("far/client", hosts.far, { labels: { app: "client" }, ports: [{ name: "http", containerPort: 9090 }] }),
      ];
      for (const pod of pods) await createPod(server.client(), pod, signal);
      const rest = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
      enforcer = createPolicyEnforcer({
        recheckMs: 300,
        client: server.client(),
        table: createPolicyTable(lab.prefix),
        podRanges: ["10.244.7.0/24", "fd00:7::/64"],
        ...rest,
      });
      await enforcer.start(signal);
    });
    afterAll(async () => {
      await enforcer?.stop();
      await server?.close();
      await lab?.close();
    });
    afterEach(async () => {
      await Promise.all(
        (await server.client().listPage<PodObject>(policyType, {}, signal)).items.map(({ metadata }) =>
          server.client().delete(policyType, metadata, {}, signal),
        ),
      );
      await inForce(0);
    });

    /** Waits until as many policies are enforced. */
    const inForce = (policies: number) =>
      vi.waitFor(() => expect(enforcer.status()).toMatchObject({ isCurrent: true, policies }), { timeout: GENEROUS_MS, interval: 10 });
    const enforce = async (specs: Readonly<Record<string, PolicySpec>>) => {
      for (const [at, spec] of Object.entries(specs)) await server.client().create(policyType, aPolicy(at, spec), signal);
      await inForce(Object.keys(specs).length);
    };
    const open = async (from: Host, to: Target) => expect(await from.reach(to, GENEROUS_MS), JSON.stringify(to)).toBeDefined();
    const closed = async (from: Host, to: Target) => expect(await from.reach(to, QUIET_MS), JSON.stringify(to)).toBeUndefined();
    const at = ({ ip }: Host, port = 8080): Target => ({ host: ip, port });
    const udp = ({ ip }: Host): Target => ({ host: ip, port: 5353, protocol: "UDP" });

    it("leave everything open where there are none", async () => {
      await open(hosts.client, at(hosts.web));
      await open(hosts.far, udp(hosts.web));
      await open(hosts.web, at(lab.outside));
      await open(lab.outside, at(hosts.web));
      await open(hosts.client, { host: SERVICE, port: 80 });
      await open(hosts.client, { host: hosts.web.ip6, port: 8080 });
    });

    it("close a pod's ingress, to all but its node and itself", async () => {
      await enforce({ "shop/deny": { podSelector: web } });
      await Promise.all([
        ...[hosts.client, hosts.other, hosts.far, lab.outside].flatMap((from) => [
          closed(from, at(hosts.web)),
          closed(from, udp(hosts.web)),
        ]),
        closed(hosts.client, { host: SERVICE, port: 80 }),
        closed(hosts.client, { host: hosts.web.ip6, port: 8080 }),
      ]);
      await open(lab.node, at(hosts.web));
      await open(lab.node, udp(hosts.web));
      await open(hosts.web, at(hosts.web));
      expect(await hosts.web.reach({ host: SERVICE, port: 80 }, GENEROUS_MS)).toBe(`web hears ::ffff:${lab.node.ip}`);
      await open(hosts.web, at(hosts.client));
      await open(hosts.web, at(lab.outside));
      await open(hosts.client, at(hosts.other));
    });

    it("open a port by its name, for the peers that are selected", async () => {
      await enforce({
        "shop/web": {
          podSelector: web,
          ingress: [{ from: [{ podSelector: client }], ports: [{ port: "http" }, { protocol: "UDP", port: "dns" }] }],
        },
      });
      await open(hosts.client, at(hosts.web));
      await open(hosts.client, udp(hosts.web));
      await open(hosts.client, { host: hosts.web.ip6, port: 8080 });
      await Promise.all([
        closed(hosts.client, at(hosts.web, 9090)),
        closed(hosts.other, at(hosts.web)),
        closed(hosts.other, udp(hosts.web)),
        closed(hosts.other, { host: hosts.web.ip6, port: 8080 }),
        closed(hosts.far, at(hosts.web)),
        closed(lab.outside, at(hosts.web)),
      ]);
    });

    it("see through the address of a Service, and name the port that its pod has", async () => {
      await enforce({
        "shop/web": { podSelector: web, ingress: [{ from: [{ podSelector: client }], ports: [{ port: 8080 }] }] },
        "shop/client": {
          podSelector: client,
          policyTypes: ["Egress"],
          egress: [{ to: [{ podSelector: web }], ports: [{ port: "http" }] }],
        },
        "shop/other": {
          podSelector: { matchLabels: { app: "other" } },
          policyTypes: ["Egress"],
          egress: [{ to: [{ ipBlock: { cidr: `${SERVICE}/32` } }] }],
        },
      });
      expect(await hosts.client.reach({ host: SERVICE, port: 80 }, GENEROUS_MS)).toBe(`web hears ::ffff:${hosts.client.ip}`);
      await Promise.all([
        closed(hosts.far, { host: SERVICE, port: 80 }),
        // A policy that allows a Service's address allows nothing: it is gone by the time policies are asked.
        closed(hosts.other, { host: SERVICE, port: 80 }),
        closed(hosts.client, at(hosts.web, 9090)),
      ]);
    });

    it("allow pods of a namespace, by its labels", async () => {
      await enforce({
        "shop/web": {
          podSelector: web,
          ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "far" } }, podSelector: client }] }],
        },
      });
      await open(hosts.far, at(hosts.web));
      await open(hosts.far, udp(hosts.web));
      await closed(hosts.client, at(hosts.web));
      const relabel = (team: string) =>
        server.client().mergePatch(NAMESPACES, { namespace: "", name: "far" }, { metadata: { labels: { team } } }, signal);
      await relabel("near");
      await vi.waitFor(async () => expect(await hosts.far.reach(at(hosts.web), QUIET_MS)).toBeUndefined(), { timeout: GENEROUS_MS });
      await relabel("far");
      await vi.waitFor(async () => expect(await hosts.far.reach(at(hosts.web), QUIET_MS)).toBeDefined(), { timeout: GENEROUS_MS });
    });

    it("allow a block of addresses without its exceptions, both ways", async () => {
      const block = { ipBlock: { cidr: "203.0.113.0/24", except: ["203.0.113.128/25"] } };
      await enforce({
        "shop/web": {
          podSelector: web,
          policyTypes: ["Ingress", "Egress"],
          ingress: [{ from: [block] }],
          egress: [{ to: [block], ports: [{ port: 9090 }] }],
        },
      });
      await open(lab.outside, at(hosts.web));
      await open(hosts.web, at(lab.outside, 9090));
      await Promise.all([
        closed(hosts.web, at(lab.outside)),
        closed(hosts.web, { host: OTHER_OUTSIDE, port: 9090 }),
        closed(hosts.web, at(hosts.client, 9090)),
        closed(hosts.client, at(hosts.web)),
      ]);
    });

    it("let a range of ports through and answers back, though nothing may be asked", async () => {
      await enforce({
        "shop/web": {
          podSelector: web,
          policyTypes: ["Ingress", "Egress"],
          ingress: [{ ports: [{ port: 8000, endPort: 8100 }, { protocol: "UDP" }] }],
        },
      });
      await open(hosts.client, at(hosts.web));
      await open(hosts.client, udp(hosts.web));
      await open(lab.outside, at(hosts.web));
      await Promise.all([
        closed(hosts.client, at(hosts.web, 9090)),
        closed(hosts.web, at(hosts.client)),
        closed(hosts.web, udp(hosts.far)),
      ]);
    });

    it("need both ends to allow a connection", async () => {
      await enforce({
        "shop/web": { podSelector: web, ingress: [{}] },
        "shop/other": { podSelector: { matchLabels: { app: "other" } }, ingress: [{ ports: [{ port: 9090 }] }] },
        "shop/client": { podSelector: client, policyTypes: ["Egress"], egress: [{ to: [{ podSelector: {} }], ports: [{ port: 8080 }] }] },
      });
      await open(hosts.client, at(hosts.web));
      await open(hosts.far, at(hosts.other, 9090));
      await Promise.all([
        // What egress allows and ingress does not, and the other way round.
        closed(hosts.client, at(hosts.other)),
        closed(hosts.client, at(hosts.web, 9090)),
        closed(hosts.client, at(hosts.other, 9090)),
        closed(hosts.client, at(lab.outside)),
      ]);
    });

    it("leave connections alone that are there before them, and open again when they are gone", async () => {
      const to = { host: hosts.web.ip, port: 8080 };
      expect(await hosts.client.keep(to, GENEROUS_MS)).toBeDefined();
      await enforce({ "shop/deny": { podSelector: web, policyTypes: ["Ingress", "Egress"] } });
      await closed(hosts.client, to);
      expect(await hosts.client.say(GENEROUS_MS)).toBe(`web hears ::ffff:${hosts.client.ip}`);
      await server.client().delete(policyType, { namespace: "shop", name: "deny" }, {}, signal);
      await inForce(0);
      await open(hosts.client, to);
    });

    it("keep a pod closed until its address is known, though no policy selects it", async () => {
      const fresh = await lab.addPod("fresh", 6);
      await fresh.listen("TCP", 8080);
      await Promise.all([
        closed(hosts.client, at(fresh)),
        closed(fresh, at(hosts.client)),
        closed(fresh, at(lab.outside)),
        closed(fresh, { host: hosts.client.ip6, port: 8080 }),
      ]);
      await open(lab.node, at(fresh));
      await createPod(server.client(), podOf("shop/fresh", fresh), signal);
      await vi.waitFor(async () => expect(await fresh.reach(at(hosts.client), QUIET_MS)).toBeDefined(), { timeout: GENEROUS_MS });
      await open(hosts.client, at(fresh));
      await server.client().delete(podType, { namespace: "shop", name: "fresh" }, {}, signal);
      await vi.waitFor(async () => expect(await hosts.client.reach(at(fresh), QUIET_MS)).toBeUndefined(), { timeout: GENEROUS_MS });
    });

    it("cannot be gone round by addresses that no pod is known by", async () => {
      await enforce({ "shop/deny": { podSelector: web } });
      const [linkLocal = ""] =
        /fe80::[0-9a-f:]+/.exec(await lab.inPod("web", "ip", "-6", "address", "show", "dev", "eth0", "scope", "link")) ?? [];
      expect(linkLocal).not.toBe("");
      await closed(hosts.client, { host: `${linkLocal}%eth0`, port: 8080 });
    });

    it("come back when somebody removes their table", async () => {
      await enforce({ "shop/deny": { podSelector: web } });
      await lab.run("nft", "delete table inet argosy_policies");
      await open(hosts.client, at(hosts.web));
      await vi.waitFor(async () => expect(await hosts.client.reach(at(hosts.web), QUIET_MS)).toBeUndefined(), { timeout: GENEROUS_MS });
    });

    it("are refused by nft with a reason, which leaves the rules in force", async () => {
      await enforce({ "shop/deny": { podSelector: web } });
      const table = createPolicyTable(lab.prefix);
      await expect(
        table.load("add table inet argosy_policies\ndelete table inet argosy_policies\nadd rule inet nowhere c accept\n", signal),
      ).rejects.toThrow("No such file or directory");
      expect(await table.isLoaded(signal)).toBe(true);
      await closed(hosts.client, at(hosts.web));
      await expect(createPolicyTable(["nsenter", "--net=/run/netns/argosy-nowhere"]).load("", signal)).rejects.toThrow("argosy-nowhere");
      await expect(createPolicyTable(["no-such-program"]).isLoaded(signal)).rejects.toThrow("Running no-such-program");
    });
  },
);

describe.skipIf(missing !== undefined)("the script for nft", () => {
  it("is one that nft takes, for any policies, pods and namespaces", async () => {
    const lab = await startLab("ptp");
    try {
      const table = createPolicyTable(lab.prefix);
      for (const objects of fc.sample(anyCluster, 40)) {
        const script = renderRules(planRules(stateOf(objects), { podRanges: [], trustedSources: [] }).rules);
        await expect(table.load(script, signal), script).resolves.toBeUndefined();
      }
    } finally {
      await lab.close();
    }
  });
});

/**
 * A Service's address, translated where kube-proxy translates it. What a pod sends to itself that way gets the node's address, or the pod
 * would get answers from itself.
 */
function serviceRules(to: string): string {
  return `add table ip services {
    chain prerouting { type nat hook prerouting priority dstnat; ip daddr ${SERVICE} tcp dport 80 dnat to ${to}:8080; }
    chain postrouting { type nat hook postrouting priority srcnat; ip saddr ${to} ip daddr ${to} masquerade; }
  }`;
}
