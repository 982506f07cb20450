import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAddress, parseCidr } from "./addresses.ts";
import { type NodeSettings, planRules } from "./plan-rules.ts";
import { anyCluster, anyPortNumber, anyProtocol } from "./testing/any-cluster.ts";
import { isAllowed } from "./testing/is-allowed.ts";
import { allowsByTheBook, type Packet } from "./testing/kubernetes-meaning.ts";
import {
  aNamespace,
  aPod,
  aPolicy,
  type ClusterObjects,
  type PeerObject,
  type PolicySpec,
  type PortObject,
  stateOf,
} from "./testing/objects.ts";

const OPEN: NodeSettings = { podRanges: [], trustedSources: [] };

function address(text: string) {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(`${text} is no address`);
  return parsed;
}

function range(text: string) {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is no CIDR`);
  return parsed;
}

function passes(objects: ClusterObjects, { from, to, protocol, port }: Packet, settings = OPEN): boolean {
  const { rules } = planRules(stateOf(objects), settings);
  return isAllowed(rules, { source: address(from), target: address(to), protocol, port });
}

const WEB = "10.1.0.1";
const CLIENT = "10.1.0.2";
const OTHER = "10.1.0.3";
const FAR = "10.1.0.4";
const OUTSIDE = "203.0.113.7";

/** `web` is what policies are about; `client` and `other` are in its namespace, `far` is in another. */
const pods = [
  aPod("shop/web", WEB, {
    labels: { app: "web" },
    ports: [
      { name: "http", containerPort: 8080 },
      { name: "dns", containerPort: 53, protocol: "UDP" },
    ],
  }),
  aPod("shop/client", CLIENT, { labels: { app: "client", tier: "front" } }),
  aPod("shop/other", OTHER, { labels: { app: "other" } }),
  aPod("far/client", FAR, { labels: { app: "client" }, ports: [{ name: "http", containerPort: 9090 }] }),
];
const namespaces = [aNamespace("shop", { team: "shop" }), aNamespace("far", { team: "far" })];
const web = { matchLabels: { app: "web" } };

const cluster = (...specs: readonly PolicySpec[]): ClusterObjects => ({
  policies: specs.map((spec, at) => aPolicy(`shop/policy-${at}`, { podSelector: web, ...spec })),
  pods,
  namespaces,
});
const tcp = (from: string, to: string, port = 8080): Packet => ({ from, to, protocol: "TCP", port });

/** Which of the four others get to port 8080 of `web`. */
const arrivals = (objects: ClusterObjects, port = 8080) =>
  Object.entries({ client: CLIENT, other: OTHER, far: FAR, outside: OUTSIDE })
    .filter(([, from]) => passes(objects, tcp(from, WEB, port)))
    .map(([name]) => name);
/** Which of the four others `web` gets to. */
const departures = (objects: ClusterObjects, port = 8080) =>
  Object.entries({ client: CLIENT, other: OTHER, far: FAR, outside: OUTSIDE })
    .filter(([, to]) => passes(objects, tcp(WEB, to, port)))
    .map(([name]) => name);

const everybody = ["client", "other", "far", "outside"];

describe("network policies", () => {
  describe("whom a policy isolates", () => {
    it.each<[string, PolicySpec, { readonly in: readonly string[]; readonly out: readonly string[] }]>([
      ["nobody, where it selects no pod", { podSelector: { matchLabels: { app: "db" } } }, { in: everybody, out: everybody }],
      ["for ingress by default", {}, { in: [], out: everybody }],
      ["for ingress with an empty list of rules", { ingress: [] }, { in: [], out: everybody }],
      ["for ingress only, with an empty list of egress rules", { egress: [] }, { in: [], out: everybody }],
      ["for both if it has an egress rule", { egress: [{ to: [{ ipBlock: { cidr: "203.0.113.0/24" } }] }] }, { in: [], out: ["outside"] }],
      ["for egress alone where it says so", { policyTypes: ["Egress"] }, { in: everybody, out: [] }],
      ["for egress alone, whatever rules it has for ingress", { policyTypes: ["Egress"], ingress: [{}] }, { in: everybody, out: [] }],
      ["for ingress alone, whatever rules it has for egress", { policyTypes: ["Ingress"], egress: [{}] }, { in: [], out: everybody }],
      ["for both where it says so", { policyTypes: ["Ingress", "Egress"] }, { in: [], out: [] }],
      ["every pod of its namespace with an empty selector", { podSelector: {} }, { in: [], out: ["far", "outside"] }],
    ])("%s", (_title, spec, expected) => {
      expect({ in: arrivals(cluster(spec)), out: departures(cluster(spec)) }).toEqual(expected);
    });

    it("every pod of its namespace without a selector", () => {
      const objects = { policies: [aPolicy("shop/all", {})], pods, namespaces };
      expect(passes(objects, tcp(WEB, CLIENT))).toBe(false);
      expect(passes(objects, tcp(WEB, FAR))).toBe(true);
    });

    it("no pod of another namespace", () => {
      const objects = { policies: [aPolicy("far/all", { podSelector: {} })], pods, namespaces };
      expect(passes(objects, tcp(CLIENT, WEB))).toBe(true);
      expect(passes(objects, tcp(CLIENT, FAR))).toBe(false);
    });
  });

  describe("peers", () => {
    it.each<[string, readonly PeerObject[] | undefined, readonly string[]]>([
      ["none given: everybody", undefined, everybody],
      ["an empty list: everybody", [], everybody],
      ["a pod selector: pods of the policy's namespace", [{ podSelector: { matchLabels: { app: "client" } } }], ["client"]],
      ["an empty pod selector: all pods of the namespace", [{ podSelector: {} }], ["client", "other"]],
      ["a namespace selector: all pods there", [{ namespaceSelector: { matchLabels: { team: "far" } } }], ["far"]],
      ["an empty namespace selector: all pods", [{ namespaceSelector: {} }], ["client", "other", "far"]],
      [
        "both in one peer: pods that are selected, in namespaces that are",
        [{ namespaceSelector: { matchLabels: { team: "far" } }, podSelector: { matchLabels: { app: "other" } } }],
        [],
      ],
      [
        "both in two peers: either",
        [{ namespaceSelector: { matchLabels: { team: "far" } } }, { podSelector: { matchLabels: { app: "other" } } }],
        ["other", "far"],
      ],
      ["In", [{ podSelector: { matchExpressions: [{ key: "app", operator: "In", values: ["other", "db"] }] } }], ["other"]],
      [
        "NotIn, also without the label",
        [{ podSelector: { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["front"] }] } }],
        ["other"],
      ],
      ["Exists", [{ podSelector: { matchExpressions: [{ key: "tier", operator: "Exists" }] } }], ["client"]],
      ["DoesNotExist", [{ podSelector: { matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] } }], ["other"]],
      [
        "labels and expressions together",
        [{ podSelector: { matchLabels: { app: "client" }, matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] } }],
        [],
      ],
      ["a block of addresses", [{ ipBlock: { cidr: "203.0.113.0/24" } }], ["outside"]],
      ["a block with bits behind its prefix", [{ ipBlock: { cidr: "203.0.113.99/24" } }], ["outside"]],
      ["a block with an exception", [{ ipBlock: { cidr: "203.0.113.0/24", except: ["203.0.113.0/28"] } }], []],
      ["every address but pods'", [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.0/8"] } }], ["outside"]],
      ["a block that has pods in it", [{ ipBlock: { cidr: "10.1.0.0/30" } }], ["client", "other"]],
      [
        "an exception that another peer selects",
        [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.0/8"] } }, { podSelector: {} }],
        ["client", "other", "outside"],
      ],
      ["addresses of the other family", [{ ipBlock: { cidr: "::/0" } }], []],
    ])("%s", (_title, peers, expected) => {
      const both = cluster({
        policyTypes: ["Ingress", "Egress"],
        ingress: [peers === undefined ? {} : { from: peers }],
        egress: [peers === undefined ? {} : { to: peers }],
      });
      expect(arrivals(both)).toEqual(expected);
      expect(departures(both)).toEqual(expected);
    });

    it("are in no namespace that is selected while its labels are not known", () => {
      const objects = { ...cluster({ ingress: [{ from: [{ namespaceSelector: {} }] }] }), namespaces: [aNamespace("shop")] };
      expect(arrivals(objects)).toEqual(["client", "other"]);
    });
  });

  describe("ports", () => {
    it.each<[string, readonly PortObject[] | undefined, readonly string[]]>([
      ["none given: all, of every protocol", undefined, ["TCP 8080", "TCP 8081", "UDP 53", "UDP 8080", "SCTP 8080"]],
      ["an empty list: all, of every protocol", [], ["TCP 8080", "TCP 8081", "UDP 53", "UDP 8080", "SCTP 8080"]],
      ["a number: TCP", [{ port: 8080 }], ["TCP 8080"]],
      ["a protocol alone: all its ports", [{ protocol: "UDP" }], ["UDP 53", "UDP 8080"]],
      ["nothing at all: all ports of TCP", [{}], ["TCP 8080", "TCP 8081"]],
      ["a range", [{ port: 8000, endPort: 8080 }], ["TCP 8080"]],
      ["a range of one", [{ protocol: "SCTP", port: 8080, endPort: 8080 }], ["SCTP 8080"]],
      ["a name", [{ port: "http" }], ["TCP 8080"]],
      ["a name of another protocol", [{ protocol: "UDP", port: "http" }], []],
      ["a name with its protocol", [{ protocol: "UDP", port: "dns" }], ["UDP 53"]],
      ["a name that no container has", [{ port: "metrics" }], []],
      ["several", [{ port: "http" }, { protocol: "UDP", port: 8080 }], ["TCP 8080", "UDP 8080"]],
    ])("%s", (_title, ports, expected) => {
      const objects = cluster({ ingress: [ports === undefined ? {} : { ports }] });
      const tried: readonly Packet[] = [
        ...[8080, 8081].map((port) => ({ from: CLIENT, to: WEB, protocol: "TCP", port }) as const),
        ...[53, 8080].map((port) => ({ from: CLIENT, to: WEB, protocol: "UDP", port }) as const),
        { from: CLIENT, to: WEB, protocol: "SCTP", port: 8080 },
      ];
      const open = tried.filter((packet) => passes(objects, packet)).map(({ protocol, port }) => `${protocol} ${port}`);
      expect(open).toEqual(expected);
    });

    it("are called what the pod calls them that is connected to", () => {
      const objects = cluster({ policyTypes: ["Egress"], egress: [{ ports: [{ port: "http" }] }] });
      expect(departures(objects, 9090)).toEqual(["far"]);
      expect(departures(objects, 8080)).toEqual([]);
    });

    it("of sidecars have names, those of containers that end do not", () => {
      const withInit = (restartPolicy: "Always" | undefined) =>
        aPod("shop/web", WEB, {
          labels: { app: "web" },
          spec: {
            initContainers: [
              {
                name: "init",
                ports: [{ name: "proxy", containerPort: 15_000 }],
                ...(restartPolicy === undefined ? {} : { restartPolicy }),
              },
            ],
          },
        });
      const open = (pod: ReturnType<typeof withInit>) =>
        passes({ ...cluster({ ingress: [{ ports: [{ port: "proxy" }] }] }), pods: [pod] }, tcp(OUTSIDE, WEB, 15_000));
      expect([open(withInit("Always")), open(withInit(undefined))]).toEqual([true, false]);
    });
  });

  describe("several policies", () => {
    it("of one pod add up", () => {
      const objects = cluster(
        {},
        { ingress: [{ from: [{ podSelector: { matchLabels: { app: "client" } } }] }] },
        { ingress: [{ from: [{ ipBlock: { cidr: "203.0.113.0/24" } }], ports: [{ port: 8080 }] }] },
      );
      expect(arrivals(objects)).toEqual(["client", "outside"]);
      expect(arrivals(objects, 8081)).toEqual(["client"]);
    });

    it("have to allow both ends of a connection", () => {
      const egress = aPolicy("shop/out", { podSelector: { matchLabels: { app: "client" } }, policyTypes: ["Egress"] });
      const objects = cluster({ ingress: [{}] });
      expect(arrivals({ ...objects, policies: [...objects.policies, egress] })).toEqual(["other", "far", "outside"]);
    });
  });

  describe("pods", () => {
    const closedTo = cluster({ policyTypes: ["Ingress", "Egress"] });

    it("reach themselves whatever isolates them", () => {
      expect(passes(closedTo, tcp(WEB, WEB))).toBe(true);
    });

    it.each([
      ["in the node's network", aPod("shop/web", WEB, { labels: { app: "web" }, spec: { hostNetwork: true } })],
      ["that have ended", aPod("shop/web", WEB, { labels: { app: "web" }, status: { phase: "Succeeded" } })],
      ["that have failed", aPod("shop/web", WEB, { labels: { app: "web" }, status: { phase: "Failed" } })],
    ])("%s are no subject and no peer", (_title, pod) => {
      expect(passes({ ...closedTo, pods: [pod] }, tcp(OUTSIDE, WEB))).toBe(true);
      const toWeb = aPolicy("shop/to-web", {
        podSelector: { matchLabels: { app: "client" } },
        ingress: [{ from: [{ podSelector: web }] }],
      });
      expect(passes({ policies: [toWeb], pods: [pod, ...pods.slice(1)], namespaces }, tcp(WEB, CLIENT))).toBe(false);
    });

    it("are closed while nobody knows them, where their addresses are known to be pods'", () => {
      const settings = { ...OPEN, podRanges: [range("10.1.0.0/24")] };
      const objects = { policies: [], pods: [aPod("shop/new", undefined), ...pods], namespaces };
      expect(passes(objects, tcp("10.1.0.77", WEB), settings)).toBe(false);
      expect(passes(objects, tcp(WEB, "10.1.0.77"), settings)).toBe(false);
      expect(passes(objects, tcp(CLIENT, WEB), settings)).toBe(true);
      expect(passes(objects, tcp("10.1.0.77", WEB), OPEN)).toBe(true);
    });

    it("are open to trusted addresses, which they reach only where they may", () => {
      const settings = { ...OPEN, trustedSources: [range(`${OUTSIDE}/32`)] };
      expect(passes(closedTo, tcp(OUTSIDE, WEB), settings)).toBe(true);
      expect(passes(closedTo, tcp(WEB, OUTSIDE), settings)).toBe(false);
      expect(passes(closedTo, tcp(OTHER, WEB), settings)).toBe(false);
    });

    it("have the address that a pod which is being deleted still claims", () => {
      const old = aPod("shop/old", WEB, { labels: { app: "old" }, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
      expect(arrivals({ ...closedTo, pods: [old, ...pods] })).toEqual([]);
      expect(planRules(stateOf({ ...closedTo, pods: [old, ...pods] }), OPEN).problems).toEqual([]);
    });

    it("that claim the same address close it, and are reported", () => {
      const twin = aPod("far/twin", WEB);
      const objects = { policies: [], pods: [twin, ...pods], namespaces };
      expect(arrivals(objects)).toEqual([]);
      expect(departures(objects)).toEqual([]);
      expect(planRules(stateOf(objects), OPEN).problems.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
        "far/twin",
        "shop/web",
      ]);
    });

    it("that cannot be read are closed at the addresses that can, and are reported", () => {
      const broken = { ...pods[0], status: { phase: "Running", podIP: WEB, podIPs: [{ ip: WEB }, { ip: "10.1.0" }] } };
      const objects = { policies: [], pods: [broken as (typeof pods)[0], ...pods.slice(1)], namespaces } as ClusterObjects;
      expect(arrivals(objects)).toEqual([]);
      expect(planRules(stateOf(objects), OPEN).problems).toEqual([
        expect.objectContaining({ kind: "Pod", namespace: "shop", name: "web", message: 'status.podIPs has "10.1.0": report an address' }),
      ]);
    });

    it("have addresses of both families", () => {
      const dual = aPod("shop/web", WEB, { labels: { app: "web" }, status: { podIPs: [{ ip: WEB }, { ip: "fd00::1" }] } });
      const client = aPod("shop/client", CLIENT, { labels: { app: "client" }, status: { podIPs: [{ ip: CLIENT }, { ip: "fd00::2" }] } });
      const objects = { ...cluster({ ingress: [{ from: [{ podSelector: { matchLabels: { app: "client" } } }] }] }), pods: [dual, client] };
      expect(["fd00::2", "fd00::3", CLIENT].map((from) => passes(objects, tcp(from, from.includes(":") ? "fd00::1" : WEB)))).toEqual([
        true,
        false,
        true,
      ]);
    });
  });

  describe("what cannot be enforced as it is written", () => {
    const allowing = { ingress: [{ from: [{ ipBlock: { cidr: "203.0.113.0/24" } }] }] };
    it.each<[string, unknown, string, readonly string[]]>([
      [
        "a protocol",
        { ...allowing, ingress: [{ ports: [{ protocol: "ICMP" }] }, allowing.ingress[0]] },
        "spec.ingress[0].ports[0].protocol",
        ["outside"],
      ],
      [
        "an operator",
        { ingress: [{ from: [{ podSelector: { matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] } }] }] },
        "spec.ingress[0].from[0].podSelector.matchExpressions[0].operator",
        [],
      ],
      [
        "In without values",
        { ingress: [{ from: [{ podSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }] }] },
        "spec.ingress[0].from[0].podSelector.matchExpressions[0].values",
        [],
      ],
      ["a peer that names nobody", { ingress: [{ from: [{}] }] }, "spec.ingress[0].from[0]", []],
      [
        "a peer with a field of the future",
        { ingress: [{ from: [{ podSelector: {}, nodeSelector: {} }] }] },
        "spec.ingress[0].from[0].nodeSelector",
        [],
      ],
      [
        "a block and a selector",
        { ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: "0.0.0.0/0" } }] }] },
        "spec.ingress[0].from[0]",
        [],
      ],
      ["a block that is none", { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/33" } }] }] }, "spec.ingress[0].from[0].ipBlock.cidr", []],
      [
        "an exception outside its block",
        { ingress: [{ from: [{ ipBlock: { cidr: "203.0.113.0/24", except: ["10.0.0.0/8"] } }] }] },
        "spec.ingress[0].from[0].ipBlock.except[0]",
        [],
      ],
      [
        "an exception of the other family",
        { ingress: [{ from: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["fd00::/8"] } }] }] },
        "spec.ingress[0].from[0].ipBlock.except[0]",
        [],
      ],
      ["an end below its port", { ingress: [{ ports: [{ port: 90, endPort: 80 }] }] }, "spec.ingress[0].ports[0].endPort", []],
      ["an end of a name", { ingress: [{ ports: [{ port: "http", endPort: 80 }] }] }, "spec.ingress[0].ports[0].endPort", []],
      ["a port beyond the last", { ingress: [{ ports: [{ port: 65_536 }] }] }, "spec.ingress[0].ports[0].port", []],
      ["a name that is none", { ingress: [{ ports: [{ port: 'x" accept' }] }] }, "spec.ingress[0].ports[0].port", []],
      ["a list that is none", { ingress: {} }, "spec.ingress", []],
      ["a list of peers that is none", { ingress: [{ from: {} }] }, "spec.ingress[0].from", []],
      ["a type", { policyTypes: ["Sideways"], ...allowing }, "spec.policyTypes[0]", ["outside"]],
      ["a selector", { podSelector: { matchLabels: { app: 1 } }, ...allowing }, "spec.podSelector.matchLabels[app]", ["outside"]],
      ["a field of the future", { stages: ["PreDNAT"], ...allowing }, "spec.stages", []],
    ])("allows less and is reported: %s", (_title, spec, path, expected) => {
      const objects = cluster(spec as PolicySpec);
      expect(arrivals(objects)).toEqual(expected);
      const { problems } = planRules(stateOf(objects), OPEN);
      expect(problems).toEqual([expect.objectContaining({ kind: "NetworkPolicy", namespace: "shop", name: "policy-0" })]);
      expect(problems[0]?.message.startsWith(`${path} `)).toBe(true);
    });

    it("isolates in both directions when its types cannot be read", () => {
      expect(departures(cluster({ policyTypes: ["Sideways"] as never }))).toEqual([]);
    });

    it("isolates every pod of the namespace when its selector cannot be read", () => {
      const objects = cluster({ podSelector: { matchExpressions: [{ key: "a", operator: "Near" }] } });
      expect(passes(objects, tcp(WEB, OTHER))).toBe(false);
      expect(passes(objects, tcp(WEB, FAR))).toBe(true);
    });

    it("is a name of a port that no pod has which it could be about", () => {
      const objects = cluster({ ingress: [{ ports: [{ port: "metrics" }] }], egress: [{ ports: [{ port: "https" }] }] });
      expect(planRules(stateOf(objects), OPEN).problems.map(({ message }) => message)).toEqual([
        'spec.egress[0].ports[0].port is "https", which no pod calls a TCP port',
        'spec.ingress[0].ports[0].port is "metrics", which no pod that it selects calls a TCP port',
      ]);
      const idle = { ...objects, pods: pods.slice(1) };
      expect(planRules(stateOf(idle), OPEN).problems).toEqual([]);
    });

    it("is a namespace without readable labels", () => {
      const broken = { ...aNamespace("far"), metadata: { name: "far", labels: { team: 1 } } };
      const objects = {
        ...cluster({ ingress: [{ from: [{ namespaceSelector: {} }] }] }),
        namespaces: [broken as never, aNamespace("shop")],
      };
      expect(arrivals(objects)).toEqual(["client", "other"]);
      expect(planRules(stateOf(objects), OPEN).problems.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["Namespace far"]);
    });
  });

  it("mean what the API reference says, for any policies, pods and namespaces", () => {
    fc.assert(
      fc.property(anyCluster, fc.array(anyPacket, { minLength: 30, maxLength: 60 }), (objects, packets) => {
        const { rules, problems } = planRules(stateOf(objects), OPEN);
        expect(problems.filter(({ message }) => !message.includes("calls a"))).toEqual([]);
        for (const packet of packets) {
          const { from, to, protocol, port } = packet;
          const decided = isAllowed(rules, { source: address(from), target: address(to), protocol, port });
          if (decided !== allowsByTheBook(objects, packet)) throw new Error(`${JSON.stringify(packet)}: rules say ${decided}`);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("come to the same rules in whatever order their objects are read", () => {
    fc.assert(
      fc.property(anyCluster, (objects) => {
        const { policies, pods: all, namespaces: spaces } = objects;
        const turned = { policies: [...policies].reverse(), pods: [...all].reverse(), namespaces: [...spaces].reverse() };
        expect(planRules(stateOf(turned), OPEN)).toEqual(planRules(stateOf(objects), OPEN));
      }),
    );
  });
});

const anyHost = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 7 }) },
  { weight: 2, arbitrary: fc.constantFrom(8, 65, 129, 200) },
);
const anyPacket: fc.Arbitrary<Packet> = fc
  .record({
    family: fc.constantFrom(4, 4, 6),
    from: anyHost,
    to: anyHost,
    protocol: anyProtocol,
    port: fc.oneof(anyPortNumber, fc.constantFrom(79, 82, 8081)),
  })
  .map(({ family, from, to, protocol, port }) => {
    const at = (host: number) => {
      if (family === 6) return `fd00::${host}`;
      return host < 8 ? `10.1.0.${host}` : `192.0.2.${host}`;
    };
    return { from: at(from), to: at(to), protocol, port };
  });
