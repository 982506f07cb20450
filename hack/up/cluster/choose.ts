import { InputError } from "../../../src/domain/errors.ts";

export interface ClusterRequest {
  readonly kubeconfig: string | undefined;
  readonly kind: boolean;
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
  | { readonly is: "development"; readonly why: string }
  | { readonly is: "kind"; readonly why: string };

/**
 * The first possible one of: the cluster of --kubeconfig, a development cluster where Go is installed, a kind cluster
 * where a container engine answers. Throws `InputError` that names all three if none is possible.
 */
export async function chooseCluster({ kubeconfig, kind }: ClusterRequest, probes: ClusterProbes): Promise<ClusterChoice> {
  if (kubeconfig !== undefined) return { is: "existing", kubeconfig, why: "because --kubeconfig names it" };
  if (!kind && (await probes.hasGo())) return { is: "development", why: "because Go is installed" };
  if (await probes.hasKind())
    return { is: "kind", why: kind ? "because of --kind" : "because there is no Go, but kind and a container engine that answers" };
  throw new InputError(kind ? "kind is not installed or no container engine answers" : "there is nothing to run a cluster on", {
    code: "up.no-cluster",
    path: kind ? "--kind" : "PATH",
    remedy: "Install Go 1.26 or newer, or kind and a container engine, or name a cluster with --kubeconfig FILE",
  });
}
