import type { EngineObject } from "../../domain/engine.ts";
import { CONTROLLER, PORTS, REDIS, REPO_SERVER } from "./names.ts";
import type { InstanceIdentity } from "./object.ts";
import { objectOf } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";
import { selectorOf } from "./pods.ts";

/**
 * Addresses that are not the public internet's: private, shared, loopback, link-local (where clouds keep credentials),
 * benchmarking, multicast and reserved ranges (IANA special-purpose registries), and the prefix that leads to them from IPv6.
 */
const NOT_PUBLIC_V4 = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"],
];
const NOT_PUBLIC_V6 = ["::/127", "64:ff9b::/96", "64:ff9b:1::/48", "fc00::/7", "fe80::/10", "ff00::/8"];
const LINK_LOCAL_V4 = ["169.254.0.0/16"];
const LINK_LOCAL_V6 = ["fe80::/10"];

type Peer = Readonly<Record<string, unknown>>;
interface Flow {
  readonly peers: readonly Peer[];
  /** All TCP ports if undefined. */
  readonly ports?: readonly { readonly protocol: "TCP" | "UDP"; readonly port: number }[];
}

/** Nothing may reach or leave a pod, except the flows named here. */
export function renderNetworkPolicies({ instance, egressAllow, systemNamespace }: ManifestParameters): readonly EngineObject[] {
  const [controller, repoServer, redis] = [CONTROLLER, REPO_SERVER, REDIS].map((name): Peer => ({ podSelector: selectorOf(name) })) as [
    Peer,
    Peer,
    Peer,
  ];
  const argosy: Peer = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": systemNamespace } } };
  return [
    policy(instance, { name: "argocd-default-deny", podSelector: {}, ingress: [], egress: [] }),
    policy(instance, {
      name: CONTROLLER,
      podSelector: selectorOf(CONTROLLER),
      ingress: [tcp([argosy], PORTS.controllerMetrics)],
      // API servers are anywhere and on any port, private addresses included; metadata services are not among them.
      egress: [tcp([repoServer], PORTS.repoServer), tcp([redis], PORTS.redis), DNS, { peers: world(LINK_LOCAL_V4, LINK_LOCAL_V6) }],
    }),
    policy(instance, {
      name: REPO_SERVER,
      podSelector: selectorOf(REPO_SERVER),
      ingress: [tcp([controller], PORTS.repoServer), tcp([argosy], PORTS.repoServerMetrics)],
      egress: [
        tcp([redis], PORTS.redis),
        DNS,
        { peers: [...world(NOT_PUBLIC_V4, NOT_PUBLIC_V6), ...egressAllow.map((cidr) => ({ ipBlock: { cidr } }))] },
      ],
    }),
    policy(instance, {
      name: REDIS,
      podSelector: selectorOf(REDIS),
      ingress: [tcp([controller, repoServer], PORTS.redis)],
      egress: [],
    }),
  ];
}

function tcp(peers: readonly Peer[], port: number): Flow {
  return { peers, ports: [{ protocol: "TCP", port }] };
}

function world(exceptV4: readonly string[], exceptV6: readonly string[]): readonly Peer[] {
  return [{ ipBlock: { cidr: "0.0.0.0/0", except: exceptV4 } }, { ipBlock: { cidr: "::/0", except: exceptV6 } }];
}

/**
 * Name servers where clusters have them: in kube-system, in OpenShift's namespace (whose pods listen on 5353), and the cache
 * on the node itself.
 */
const DNS: Flow = {
  peers: [
    { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } },
    { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "openshift-dns" } } },
    { ipBlock: { cidr: "169.254.20.10/32" } },
  ],
  ports: [53, 5353].flatMap((port) => [{ protocol: "UDP", port } as const, { protocol: "TCP", port } as const]),
};

interface PolicyContent {
  readonly name: string;
  readonly podSelector: unknown;
  readonly ingress: readonly Flow[];
  readonly egress: readonly Flow[];
}

function policy(instance: InstanceIdentity, { name, podSelector, ingress, egress }: PolicyContent): EngineObject {
  const rules = (flows: readonly Flow[], side: "from" | "to") =>
    flows.map(({ peers, ports }) => ({ [side]: peers, ports: ports ?? ALL_TCP }));
  const spec = { podSelector, policyTypes: ["Ingress", "Egress"], ingress: rules(ingress, "from"), egress: rules(egress, "to") };
  return objectOf(instance, { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", name, spec });
}

const ALL_TCP = [{ protocol: "TCP", port: 1, endPort: 65_535 }];
