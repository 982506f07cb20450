/** Kinds that no repository declares and that change all the time: watching them costs memory and CPU and shows nothing. */
const UNWATCHED: readonly { readonly groups: readonly string[]; readonly kinds: readonly string[] }[] = [
  { groups: ["", "discovery.k8s.io"], kinds: ["Endpoints", "EndpointSlice"] },
  { groups: ["coordination.k8s.io"], kinds: ["Lease"] },
  {
    groups: ["authentication.k8s.io", "authorization.k8s.io"],
    kinds: [
      "LocalSubjectAccessReview",
      "SelfSubjectAccessReview",
      "SelfSubjectReview",
      "SelfSubjectRulesReview",
      "SubjectAccessReview",
      "TokenReview",
    ],
  },
  { groups: ["certificates.k8s.io"], kinds: ["CertificateSigningRequest"] },
  { groups: ["cert-manager.io"], kinds: ["CertificateRequest"] },
  { groups: ["cilium.io"], kinds: ["CiliumEndpoint", "CiliumEndpointSlice", "CiliumIdentity"] },
  {
    groups: ["kyverno.io", "reports.kyverno.io", "wgpolicyk8s.io"],
    kinds: [
      ...["AdmissionReport", "BackgroundScanReport", "ClusterAdmissionReport", "ClusterBackgroundScanReport"],
      ...["ClusterEphemeralReport", "ClusterPolicyReport", "EphemeralReport", "PolicyReport", "UpdateRequest"],
    ],
  },
  // Else every change that other workspaces make to their Applications would wake the controller. Other kinds of the
  // group (Rollout, Workflow) are deployed by users.
  { groups: ["argoproj.io"], kinds: ["Application", "ApplicationSet", "AppProject"] },
];

/** `resource.exclusions` is a YAML list. JSON is YAML. */
export const EXCLUSIONS: string = UNWATCHED.map(({ groups, kinds }) =>
  [`- apiGroups: ${JSON.stringify(groups)}`, `  kinds: ${JSON.stringify(kinds)}`, `  clusters: ["*"]`, ""].join("\n"),
).join("");

/** Fields whose change alone does not lead to a comparison of the application, by kind. `all` counts for every kind. */
const QUIET_FIELDS: readonly { readonly kind: string; readonly pointers?: readonly string[]; readonly annotations?: readonly string[] }[] =
  [
    // A status that changes an object's health leads to a comparison all the same.
    { kind: "all", pointers: ["/status"] },
    { kind: "argoproj.io_Rollout", annotations: ["notified.notifications.argoproj.io"] },
    {
      kind: "autoscaling_HorizontalPodAutoscaler",
      annotations: ["behavior", "conditions", "metrics", "current-metrics"].map((name) => `autoscaling.alpha.kubernetes.io/${name}`),
    },
    { kind: "ConfigMap", annotations: ["cluster-autoscaler.kubernetes.io/last-updated", "control-plane.alpha.kubernetes.io/leader"] },
    {
      kind: "apps_ReplicaSet",
      annotations: [
        "deployment.kubernetes.io/desired-replicas",
        "deployment.kubernetes.io/max-replicas",
        "rollout.argoproj.io/desired-replicas",
      ],
    },
    { kind: "discovery.k8s.io_EndpointSlice", pointers: ["/metadata", "/endpoints", "/ports"] },
    { kind: "Endpoints", pointers: ["/metadata", "/subsets"] },
  ];

/** `resource.customizations.ignoreResourceUpdates.*`. None of these is built into Argo CD, and all are needed. */
export const IGNORED_UPDATES: Readonly<Record<string, string>> = Object.fromEntries(
  QUIET_FIELDS.map(({ kind, pointers = [], annotations = [] }) => {
    const expressions = annotations.map((name) => `.metadata.annotations."${name}"`);
    const lines = [...section("jsonPointers", pointers), ...section("jqPathExpressions", expressions)];
    return [`resource.customizations.ignoreResourceUpdates.${kind}`, `${lines.join("\n")}\n`];
  }),
);

function section(name: string, values: readonly string[]): readonly string[] {
  return values.length === 0 ? [] : [`${name}:`, ...values.map((value) => `  - ${JSON.stringify(value)}`)];
}
