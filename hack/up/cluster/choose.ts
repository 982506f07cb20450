import { InputError } from "../../../src/domain/errors.ts";

export interface ClusterRequest {
  readonly kubeconfig: string | undefined;
  readonly kind: boolean;
  readonly realNode: boolean;
}

/** What this machine has. It is checked only where it matters. */
export interface ClusterProbes {
  hasGo(): Promise<boolean>;
  /** Whether kind is installed and a container engine answers. */
  hasKind(): Promise<boolean>;
}

/** Where the fleet is to run, and why, as the end of a sentence. */
export type ClusterChoice =
  | { readonly is: "existing"; readonly kubeconfig: string; readonly why: string }
  | { readonly is: "development"; readonly realNode: boolean; readonly why: string }
  | { readonly is: "kind"; readonly why: string };

/**
 * The first possible one of: the cluster of --kubeconfig, a development cluster where Go is installed, a kind cluster
 * where a container engine answers. Throws `InputError` that names all three if none is possible, or if a real node is wanted without Go.
 */
export async function chooseCluster({ kubeconfig, kind, realNode }: ClusterRequest, probes: ClusterProbes): Promise<ClusterChoice> {
  if (kubeconfig !== undefined) return { is: "existing", kubeconfig, why: "because --kubeconfig names it" };
  if (!kind && (await probes.hasGo())) return { is: "development", realNode, why: "because Go is installed" };
  if (realNode)
    throw new InputError("a real node is built here, and there is no Go", {
      code: "up.no-cluster",
      path: "--node",
      remedy: "Install Go 1.26 or newer, or leave --node out",
    });
  if (await probes.hasKind())
    return { is: "kind", why: kind ? "because of --kind" : "because there is no Go, but kind and a container engine that answers" };
  throw new InputError(kind ? "kind is not installed or no container engine answers" : "there is nothing to run a cluster on", {
    code: "up.no-cluster",
    path: kind ? "--kind" : "PATH",
    remedy: "Install Go 1.26 or newer, or kind and a container engine, or name a cluster with --kubeconfig FILE",
  });
}
