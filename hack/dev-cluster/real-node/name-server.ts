import { NAME_SERVER_IMAGE } from "./images.ts";
import { CLUSTER_DOMAIN, DNS_SERVICE } from "./network-plan.ts";

const LABELS = { "k8s-app": "kube-dns" };
const NAME = "coredns";
const NAMESPACE = "kube-system";
const RBAC = "rbac.authorization.k8s.io";

/** What the name server answers: names of Services and pods, and nothing outside, which nothing here reaches. */
const COREFILE = `.:53 {
  errors
  ready
  kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {
    pods insecure
    ttl 5
  }
  cache 5
}
`;

/** CoreDNS as it is usually installed: a Deployment in kube-system behind the Service that pods ask. */
export function renderNameServer(): readonly Readonly<Record<string, unknown>>[] {
  const metadata = { name: NAME, namespace: NAMESPACE };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: NAME }, rules: RULES },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: NAME },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: NAME },
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { Corefile: COREFILE } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 1, selector: { matchLabels: LABELS }, template: podTemplate() },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kube-dns", namespace: NAMESPACE },
      spec: {
        clusterIP: DNS_SERVICE,
        selector: LABELS,
        ports: (["UDP", "TCP"] as const).map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, port: 53, protocol })),
      },
    },
  ];
}

const RULES = [
  { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
];

function podTemplate(): unknown {
  return {
    metadata: { labels: LABELS },
    spec: {
      serviceAccountName: NAME,
      priorityClassName: "system-cluster-critical",
      dnsPolicy: "Default",
      tolerations: [{ operator: "Exists" }],
      containers: [
        {
          name: NAME,
          image: NAME_SERVER_IMAGE,
          imagePullPolicy: "Never",
          args: ["-conf", "/etc/coredns/Corefile"],
          ports: (["UDP", "TCP"] as const).map((protocol) => ({ containerPort: 53, protocol })),
          readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 1 },
          resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "128Mi" } },
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
            readOnlyRootFilesystem: true,
            runAsUser: 0,
          },
          volumeMounts: [{ name: "config", mountPath: "/etc/coredns" }],
        },
      ],
      volumes: [{ name: "config", configMap: { name: NAME } }],
    },
  };
}
