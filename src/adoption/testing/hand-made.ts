import type { AdoptionFacts } from "../plan-adoption.ts";

type Tree = { [field: string]: unknown };
export interface HandMadeTree extends Tree {
  metadata: Tree;
  spec: Tree & { source: Tree; destination: Tree; syncPolicy: Tree };
  status: Tree;
}

/** An Application as people write it: automated, Synced, deployed to the namespace `shop` of its own cluster. */
export function aHandMade(name = "web", change: (raw: HandMadeTree) => void = () => undefined): HandMadeTree {
  const raw: HandMadeTree = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace: "argocd", uid: `uid-${name}`, resourceVersion: "1" },
    spec: {
      project: "default",
      source: { repoURL: "https://git.example/team/app", path: `apps/${name}`, targetRevision: "main" },
      destination: { server: "https://kubernetes.default.svc", namespace: "shop" },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
    },
    status: {
      sync: { status: "Synced" },
      operationState: { phase: "Succeeded" },
      resources: [{ group: "apps", kind: "Deployment", name, namespace: "shop" }],
    },
  };
  change(raw);
  return raw;
}

export function adoptionFacts(raws: readonly HandMadeTree[], over: Partial<AdoptionFacts> = {}): AdoptionFacts {
  return {
    servers: ["https://kubernetes.default.svc", "https://api.example:6443"],
    projects: [
      { metadata: { name: "default" }, spec: { sourceRepos: ["*"], syncWindows: [] } },
      { metadata: { name: "night" }, spec: { syncWindows: [{ kind: "deny" }] } },
    ],
    workspaces: new Set(["shop"]),
    applications: raws.map((raw) => ({ name: String(raw.metadata["name"]), raw })),
    deployments: [],
    known: [],
    kinds: {},
    ...over,
  };
}
