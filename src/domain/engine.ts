import type { Millis } from "./clock.ts";
import type { InstanceId } from "./ids.ts";

/** A Kubernetes object as Argosy writes it: what it names, it owns. */
export interface EngineObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    /** Absent for cluster-scoped objects. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** One workload of an instance: whether all its pods run what was last asked for, and if not, why, for people. */
export interface ObservedComponent {
  readonly name: string;
  readonly isReady: boolean;
  readonly detail: string;
  /** What keeps its pods from starting and does not pass by itself, as a cluster names it; for people. */
  readonly trouble?: string;
}

/** What pods of a namespace may have in all, and have, by resource, as a ResourceQuota says it. */
export interface ObservedQuota {
  readonly hard: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
}

/** What was seen of an instance on its engine cluster. */
export type ObservedInstance =
  | { readonly namespace: "absent" }
  /** The namespace is there and was not made for this instance; `owner` is the instance its label names. */
  | { readonly namespace: "foreign"; readonly owner: InstanceId | undefined }
  | { readonly namespace: "terminating" }
  | {
      readonly namespace: "ours";
      readonly components: readonly ObservedComponent[];
      /** Its controller is to have no pod, and has none. */
      readonly isHalted?: boolean;
      readonly quota?: ObservedQuota;
    }
  /** The engine cluster did not answer, or is not known; `reason` says which, for people. */
  | { readonly namespace: "unknown"; readonly reason: string };

/** A certificate and its private key; PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** The two ends of the connection between an instance's components. */
export interface CertificatePairs {
  readonly server: CertificatePair;
  readonly client: CertificatePair;
}

/** Who signs certificates of one instance. Times are epoch ms. */
export interface CertificateAuthority extends CertificatePair {
  readonly madeAt: Millis;
  readonly notAfter: Millis;
}

/** What an instance's components are given to know each other by. */
export interface EngineCertificates extends CertificatePairs {
  /** The authorities that both sides trust, PEM: those of the certificates before, of these, and of the next ones. */
  readonly authorities: string;
}
