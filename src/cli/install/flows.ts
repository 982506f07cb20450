import { ACCOUNTS_NAMESPACE, SYSTEM_NAMESPACE } from "../../domain/names.ts";
import { type InstallObject, installLabels } from "./install-object.ts";

const FLOW_CONTROL = "flowcontrol.apiserver.k8s.io/v1";

interface Flow {
  readonly name: string;
  /** Whose requests: all accounts of this namespace. */
  readonly namespace: string;
  /** Relative to those of the API server's own levels: `workload-low`, for accounts without a level of their own, has 100. */
  readonly shares: number;
  /** For how many accounts there are; each is dealt `handSize` of `queues`. */
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/**
 * The API server's priority and fairness for Argosy's own accounts, and for those by which instances compare and deploy in the API cluster
 * (https://kubernetes.io/docs/concepts/cluster-administration/flow-control/). Without these objects both wait in one line with all other accounts of the cluster, and instances that
 * compare a great deal keep Argosy from moving workspaces away from them. Half of what a level has may be lent while it is idle. Within a level accounts take turns: an
 * instance, and a workspace whose account deploys, waits behind its own requests.
 */
export function renderFlows(): readonly InstallObject[] {
  return FLOWS.flatMap(({ name, namespace, shares, queues, handSize, queueLengthLimit }) => [
    {
      apiVersion: FLOW_CONTROL,
      kind: "PriorityLevelConfiguration",
      metadata: { name, labels: installLabels },
      spec: {
        type: "Limited",
        limited: {
          ...{ nominalConcurrencyShares: shares, lendablePercent: 50 },
          limitResponse: { type: "Queue", queuing: { queues, handSize, queueLengthLimit } },
        },
      },
    },
    {
      apiVersion: FLOW_CONTROL,
      kind: "FlowSchema",
      metadata: { name, labels: installLabels },
      spec: {
        priorityLevelConfiguration: { name },
        // Before `service-accounts` (9000), and after what the API server has for its own components.
        matchingPrecedence: 5_000,
        distinguisherMethod: { type: "ByUser" },
        rules: [
          {
            subjects: [{ kind: "Group", group: { name: `system:serviceaccounts:${namespace}` } }],
            resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }],
            nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
          },
        ],
      },
    },
  ]);
}

const FLOWS: readonly Flow[] = [
  { name: "argosy", namespace: SYSTEM_NAMESPACE, shares: 30, queues: 16, handSize: 4, queueLengthLimit: 100 },
  { name: "argosy-instances", namespace: ACCOUNTS_NAMESPACE, shares: 30, queues: 128, handSize: 6, queueLengthLimit: 50 },
];
