interface AdoptedAt {
  readonly namespace: string;
  readonly name: string;
}

/** The objects of an Argo CD that somebody installed by hand, and of its cluster, as the API server gives them. */
interface AdoptedObservation {
  readonly applications: readonly { readonly name: string; readonly raw: unknown }[];
  readonly projects: readonly unknown[];
  /** Namespaces of the cluster. */
  readonly namespaces: readonly unknown[];
  /** GitOpsDeployments in all namespaces. */
  readonly deployments: readonly unknown[];
  /** Settings of the Argo CD. Absent: there is none. */
  readonly settings: Readonly<Record<string, string>> | undefined;
}

/** The cluster of users' resources and of the Argo CD, with the rights of the person who runs the command. */
export interface AdoptedCluster {
  /** Reads everything. `namespace`: that of the Argo CD. */
  read(namespace: string, signal: AbortSignal): Promise<AdoptedObservation>;
  /** Creates a GitOpsDeployment and returns its uid. Throws `StaleError` if there is one of that name. */
  create(
    at: AdoptedAt,
    content: { readonly annotations: Readonly<Record<string, string>>; readonly spec: object },
    signal: AbortSignal,
  ): Promise<string>;
  /**
   * Sets or removes an annotation of the object with this uid, and returns the object after that. Throws `StaleError`
   * if the object now has another uid.
   */
  annotate(
    kind: "application" | "deployment",
    at: AdoptedAt & { readonly uid: string },
    change: { readonly annotation: string; readonly value: string | undefined },
    signal: AbortSignal,
  ): Promise<unknown>;
  /** The error that the status of a GitOpsDeployment reports. */
  complaint(at: AdoptedAt, signal: AbortSignal): Promise<string | undefined>;
}

/** The fleet that adopts. */
export interface AdoptingFleet {
  /** Makes the resource's application keep a name in Argo CD. Throws `RefusedError` if it cannot. */
  keepName(name: AdoptedAt & { readonly uid: string; readonly argoName: string }, signal: AbortSignal): Promise<void>;
  /**
   * Whether the fleet has recorded an application of that name for the resource, within `waitMs`. Throws
   * `RefusedError` if it has recorded one of another name: then the fleet acts already, and the Application must not
   * be resumed.
   */
  takes(at: AdoptedAt & { readonly argoName: string; readonly waitMs: number }, signal: AbortSignal): Promise<boolean>;
}
