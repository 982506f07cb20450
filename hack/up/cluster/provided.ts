import type { FleetImages } from "../../fleet/images.ts";
import type { Cluster } from "../../fleet/install.ts";
import type { Part } from "../keep-running.ts";
import type { Progress } from "../progress.ts";
import type { StateDirectory } from "../state-directory.ts";

/** A Kubernetes cluster to run the fleet on. */
export interface ProvidedCluster {
  readonly cluster: Cluster;
  /** The administrator's kubeconfig. */
  readonly kubeconfigFile: string;
  /** Program to link as `bin/kubectl`, if one is known. */
  readonly kubectl: string | undefined;
  /** Directory or URL with Argo CD's CRDs. */
  readonly crds: string;
  /** Images that its nodes run. Absent: they run none, and images are only names there. */
  readonly images?: FleetImages;
  /** Address by which pods reach this machine. */
  readonly gitHost: string;
  /** How pods' metrics are read, if not in Argosy's default way. */
  readonly reach?: "address";
  /** More fields of Argosy's configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Its programs that have to run as long as the fleet does. None for a cluster that runs its own. */
  readonly parts: readonly Part[];
  /** Ends what was started for it. An existing cluster stays. */
  stop(): Promise<void>;
}

export interface ProvideContext {
  readonly state: StateDirectory;
  readonly progress: Progress;
  readonly version: string;
}
