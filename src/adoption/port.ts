interface AdoptedAt {
  readonly namespace: string;
  readonly name: string;
}

/** What stands on the cluster of an Argo CD that somebody installed by hand, as the cluster shows it. */
interface AdoptedObservation {
  readonly applications: readonly { readonly name: string; readonly raw: unknown }[];
  readonly projects: readonly unknown[];
  /** Those of the cluster. */
  readonly namespaces: readonly unknown[];
  /** GitOpsDeployments of all namespaces. */
  readonly deployments: readonly unknown[];
  /** Its settings; absent: there is no Argo CD. */
  readonly settings: Readonly<Record<string, string>> | undefined;
}

/** The cluster users' resources and the Argo CD stand on, by the rights of who runs the command. */
export interface AdoptedCluster {
  /** `namespace`: where the Argo CD stands. */
  read(namespace: string, signal: AbortSignal): Promise<AdoptedObservation>;
  /** Makes a GitOpsDeployment; returns its uid. Throws `StaleError` where there is one. */
  create(
    at: AdoptedAt,
    content: { readonly annotations: Readonly<Record<string, string>>; readonly spec: object },
    signal: AbortSignal,
  ): Promise<string>;
  /** Sets an annotation of an object of this uid, or takes it off; returns it as it is then. Throws `StaleError` where it is another object. */
  annotate(
    kind: "application" | "deployment",
    at: AdoptedAt & { readonly uid: string },
    change: { readonly annotation: string; readonly value: string | undefined },
    signal: AbortSignal,
  ): Promise<unknown>;
  /** What the status of a GitOpsDeployment says is wrong. */
  complaint(at: AdoptedAt, signal: AbortSignal): Promise<string | undefined>;
}

/** The fleet that takes them. */
export interface AdoptingFleet {
  /** Has the resource's application keep a name; throws `RefusedError` where it cannot. */
  keepName(name: AdoptedAt & { readonly uid: string; readonly argoName: string }, signal: AbortSignal): Promise<void>;
  /**
   * Whether an application of that name has been recorded for the resource, waiting for it for so long. Throws `RefusedError` where one of another
   * name has been: the fleet acts for it, and nothing is to be given back.
   */
  takes(at: AdoptedAt & { readonly argoName: string; readonly waitMs: number }, signal: AbortSignal): Promise<boolean>;
}
