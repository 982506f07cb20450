/** Argo CD does not look at an Application that carries it; Argosy does nothing about a resource that does. */
export const PAUSE = { application: "argocd.argoproj.io/skip-reconcile", deployment: "argosy.dev/paused" } as const;
