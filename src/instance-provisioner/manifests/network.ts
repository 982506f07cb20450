import type { EngineObject } from "../../domain/engine.ts";
import { CARRIES_V4, GLOBAL_V6, INSIDE_GLOBAL_V6, INSIDE_V4 } from "../../domain/inside-addresses.ts";
import type { LabelSelector, PolicyPeer, PolicyPort, SpecOf } from "./kubernetes-types.ts";
import { CONTROLLER, PORTS, REDIS, REPO_SERVER } from "./names.ts";
import type { ManifestIdentity } from "./object.ts";
import { objectOf } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";
import { selectorOf } from "./pods.ts";

interface Flow {
  readonly peers: readonly PolicyPeer[];
  /** Absent: all TCP ports. */
  readonly ports?: readonly PolicyPort[];
}

/** Network policies that allow the flows named here and no others, in and out. */
export function renderNetworkPolicies({ instance, egressAllow, apiServers, systemNamespace }: ManifestParameters): readonly EngineObject[] {
  const [controller, repoServer, redis] = [CONTROLLER, REPO_SERVER, REDIS].map(
    (name): PolicyPeer => ({ podSelector: selectorOf(name) }),
  ) as [PolicyPeer, PolicyPeer, PolicyPeer];
  const argosy: PolicyPeer = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": systemNamespace } } };
  return [
    policy(instance, { name: "argocd-default-deny", podSelector: {}, ingress: [], egress: [] }),
    policy(instance, {
      name: CONTROLLER,
      podSelector: selectorOf(CONTROLLER),
      ingress: [tcp([argosy], PORTS.controllerMetrics)],
      // Users name the servers it connects to, and their DNS may answer with any address. So private addresses are
      // reached only where they are declared, on any port.
      egress: [
        tcp([repoServer], PORTS.repoServer),
        tcp([redis], PORTS.redis),
        DNS,
        { peers: [...OUTSIDE, ...[...apiServers, ...egressAllow].map(range)] },
      ],
    }),
    policy(instance, {
      name: REPO_SERVER,
      podSelector: selectorOf(REPO_SERVER),
      ingress: [tcp([controller], PORTS.repoServer), tcp([argosy], PORTS.repoServerMetrics)],
      egress: [tcp([redis], PORTS.redis), DNS, { peers: [...OUTSIDE, ...egressAllow.map(range)] }],
    }),
    policy(instance, {
      name: REDIS,
      podSelector: selectorOf(REDIS),
      ingress: [tcp([controller, repoServer], PORTS.redis)],
      egress: [],
    }),
  ];
}

function tcp(peers: readonly PolicyPeer[], port: number): Flow {
  return { peers, ports: [{ protocol: "TCP", port }] };
}

function range(cidr: string): PolicyPeer {
  return { ipBlock: { cidr } };
}

/** The public internet. */
const OUTSIDE: readonly PolicyPeer[] = [
  { ipBlock: { cidr: "0.0.0.0/0", except: INSIDE_V4 } },
  { ipBlock: { cidr: GLOBAL_V6, except: [...INSIDE_GLOBAL_V6, ...CARRIES_V4] } },
];

/**
 * Name servers where clusters have them: in kube-system, in OpenShift's namespace (its pods listen on 5353), and as a
 * cache on the node itself.
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
  readonly podSelector: LabelSelector;
  readonly ingress: readonly Flow[];
  readonly egress: readonly Flow[];
}

function policy(instance: ManifestIdentity, { name, podSelector, ingress, egress }: PolicyContent): EngineObject {
  const spec: SpecOf<"NetworkPolicy"> = {
    podSelector,
    policyTypes: ["Ingress", "Egress"],
    ingress: ingress.map(({ peers, ports = ALL_TCP }) => ({ from: peers, ports })),
    egress: egress.map(({ peers, ports = ALL_TCP }) => ({ to: peers, ports })),
  };
  return objectOf(instance, { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", name, spec });
}

const ALL_TCP: readonly PolicyPort[] = [{ protocol: "TCP", port: 1, endPort: 65_535 }];
