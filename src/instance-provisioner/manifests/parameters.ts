import type { EngineCertificates, ObservedQuota } from "../../domain/engine.ts";
import type { CatalogueEntry, EgressSpec, EngineSettings, PoolSpec } from "../../domain/fleet.ts";
import type { ManifestIdentity } from "./object.ts";

/** What an instance's components prove themselves to each other with; made once and kept, so that re-creation is stable. */
export interface InstanceSecrets {
  /** Key Argo CD's settings demand; nothing signs with it as long as no server runs. */
  readonly serverSecretKey: string;
  readonly redisPassword: string;
  readonly certificates: EngineCertificates;
}

/** Everything the manifests of one instance are made from. */
export interface ManifestParameters {
  readonly instance: ManifestIdentity;
  readonly release: Pick<CatalogueEntry, "version" | "image" | "redisImage">;
  readonly resources: PoolSpec["resources"];
  readonly engine: EngineSettings;
  /** Address ranges (CIDR) that may be reached although they are private: repositories and users' clusters. */
  readonly egressAllow: readonly string[];
  /** The same for the controller alone: API servers of engine clusters and of the API cluster. */
  readonly apiServers: readonly string[];
  /** How Git hosts prove themselves that public authorities do not vouch for. */
  readonly trust?: Pick<EgressSpec, "certificateAuthorities" | "sshKnownHosts">;
  /** Namespace from which metrics may be read. */
  readonly systemNamespace: string;
  /** Its controller is to have no pod any more. */
  readonly isHalted?: boolean;
  /** What its namespace is limited to by now, and what its pods have. */
  readonly quota?: ObservedQuota;
  readonly secrets: InstanceSecrets;
}
