import type { EngineCertificates, ObservedQuota } from "../../domain/engine.ts";
import type { CatalogueEntry, EgressSpec, EngineSettings, PoolSpec } from "../../domain/fleet.ts";
import type { ManifestIdentity } from "./object.ts";

/**
 * Credentials that an instance's components use among themselves. They are created once and stored, so that a second
 * creation of the instance renders the same.
 */
export interface InstanceSecrets {
  /** A key that Argo CD's settings require. Nothing is signed with it, because no API server of Argo CD runs. */
  readonly serverSecretKey: string;
  readonly redisPassword: string;
  readonly certificates: EngineCertificates;
}

/** The filter beside a controller: Argosy's own image, and the API cluster as instances reach it. */
export interface FilterParameters {
  readonly image: string;
  readonly server: string;
  /** Certificates as PEM, in Base64; empty: the system's authorities. */
  readonly caData: string;
}

/** Everything an instance's manifests are rendered from. */
export interface ManifestParameters {
  readonly instance: ManifestIdentity;
  readonly release: Pick<CatalogueEntry, "version" | "image" | "redisImage">;
  readonly resources: Omit<PoolSpec["resources"], "max">;
  readonly engine: EngineSettings;
  /** Private address ranges (CIDR) that may be reached all the same: repositories and users' clusters. */
  readonly egressAllow: readonly string[];
  /** The same for the controller only: API servers of engine clusters and of the API cluster. */
  readonly apiServers: readonly string[];
  /** What proves Git hosts that no public authority vouches for. */
  readonly trust?: Pick<EgressSpec, "certificateAuthorities" | "sshKnownHosts">;
  /** What the filter in front of the API cluster is run from; absent: the instance has none. */
  readonly filter?: FilterParameters;
  /** Namespace whose pods may read metrics. */
  readonly systemNamespace: string;
  /** Whether the controller is to have no pod any more. */
  readonly isHalted?: boolean;
  /** The namespace's present quota, and how much of it is used. */
  readonly quota?: ObservedQuota;
  readonly secrets: InstanceSecrets;
}
