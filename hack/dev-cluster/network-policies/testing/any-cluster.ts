import fc from "fast-check";
import { FAMILIES } from "../addresses.ts";
import { aNamespace, aPod, aPolicy, type ClusterObjects, type PolicySpec, type PortObject } from "./objects.ts";

// Few values, so that selectors meet labels, ports meet ports and blocks meet pods.
const anyNamespace = fc.constantFrom("a", "b");
export const anyProtocol = fc.constantFrom("TCP", "UDP", "SCTP");
export const anyPortNumber = fc.constantFrom(1, 80, 81, 443, 8080, 65_535);
const anyPortName = fc.constantFrom("http", "dns", "x-1");
const anyLabels = fc.dictionary(fc.constantFrom("app", "tier"), fc.constantFrom("x", "y"), { maxKeys: 2 });
const anyValues = fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1, maxLength: 2 });
const anyRequirement = fc.record({
  key: fc.constantFrom("app", "tier", "none"),
  operator: fc.constantFrom("In", "NotIn", "Exists", "DoesNotExist"),
});
const anySelector = fc.record(
  {
    matchLabels: anyLabels,
    matchExpressions: fc.array(
      fc
        .tuple(anyRequirement, anyValues)
        .map(([requirement, values]) => (requirement.operator.endsWith("In") ? { ...requirement, values } : requirement)),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const anyBlock = fc.constantFrom(
  { cidr: "0.0.0.0/0" },
  { cidr: "::/0", except: ["fd00::/126"] },
  { cidr: "10.0.0.0/8", except: ["10.1.0.0/29", "10.1.0.6/31"] },
  { cidr: "10.1.0.3/30" },
  { cidr: "192.0.2.0/24", except: ["192.0.2.0/25", "192.0.2.64/26"] },
  { cidr: "192.0.2.200/32", except: ["192.0.2.200/32"] },
);
const anyPeer = fc.oneof(
  fc.record({ podSelector: anySelector }),
  fc.record({ namespaceSelector: anySelector }),
  fc.record({ podSelector: anySelector, namespaceSelector: anySelector }),
  fc.record({ ipBlock: anyBlock }),
);
const anyPort: fc.Arbitrary<PortObject> = fc.oneof(
  fc.record({ protocol: anyProtocol, port: anyPortNumber }, { requiredKeys: [] }),
  fc.record({ protocol: anyProtocol, port: anyPortName }, { requiredKeys: ["port"] }),
  fc
    .record({ protocol: anyProtocol, first: anyPortNumber, second: anyPortNumber })
    .map(({ protocol, first, second }) => ({ protocol, port: Math.min(first, second), endPort: Math.max(first, second) })),
);
const anySpec: fc.Arbitrary<PolicySpec> = fc.record(
  {
    podSelector: fc.oneof(fc.constant({}), anySelector),
    policyTypes: fc.subarray(["Ingress", "Egress"] as const),
    ingress: fc.array(
      fc.record({ from: fc.array(anyPeer, { maxLength: 3 }), ports: fc.array(anyPort, { maxLength: 3 }) }, { requiredKeys: [] }),
      { maxLength: 2 },
    ),
    egress: fc.array(
      fc.record({ to: fc.array(anyPeer, { maxLength: 3 }), ports: fc.array(anyPort, { maxLength: 3 }) }, { requiredKeys: [] }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const anyContainerPort = fc.record(
  { name: anyPortName, containerPort: anyPortNumber, protocol: anyProtocol },
  { requiredKeys: ["containerPort"] },
);
const anyPod = fc.record({
  namespace: anyNamespace,
  labels: anyLabels,
  families: fc.constantFrom(...[[4], [6], [4, 6]].map((families) => FAMILIES.filter((family) => families.includes(family)))),
  ports: fc.array(anyContainerPort, { maxLength: 3 }),
  phase: fc.constantFrom("Running", "Running", "Running", "Pending", "Succeeded"),
  hostNetwork: fc.constantFrom(false, false, false, true),
});
/** Objects of a small cluster: pods at 10.1.0.1 to 10.1.0.7 and fd00::1 to fd00::7, addresses outside in 192.0.2.0/24. */
export const anyCluster: fc.Arbitrary<ClusterObjects> = fc
  .record({
    specs: fc.array(fc.tuple(anyNamespace, anySpec), { maxLength: 6 }),
    pods: fc.array(anyPod, { minLength: 1, maxLength: 7 }),
    labels: fc.dictionary(anyNamespace, anyLabels),
  })
  .map(({ specs, pods: drawn, labels }) => ({
    policies: specs.map(([namespace, spec], at) => aPolicy(`${namespace}/p${at}`, spec)),
    pods: drawn.map(({ namespace, labels: own, families, ports, phase, hostNetwork }, at) => {
      const ips = families.map((family) => (family === 4 ? `10.1.0.${at + 1}` : `fd00::${at + 1}`));
      return aPod(`${namespace}/pod-${at}`, ips[0], {
        labels: own,
        ports,
        spec: { hostNetwork },
        status: { phase, podIPs: ips.map((ip) => ({ ip })) },
      });
    }),
    namespaces: Object.entries(labels).map(([name, own]) => aNamespace(name, own)),
  }));
