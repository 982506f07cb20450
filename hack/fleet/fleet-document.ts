import { type FleetImages, imagesByName } from "./images.ts";

/** The declaration of a development fleet: one pool on one cluster, sized for a laptop. */
export interface FleetFacts {
  /** Name and Secret (`namespace/name`) of each cluster that hosts instances. */
  readonly engineClusters: readonly { readonly name: string; readonly kubeconfigSecret: string; readonly reach?: "address" }[];
  readonly instances: { readonly min: number; readonly max: number };
  readonly version: string;
  /** Directory with the release's CRDs. */
  readonly crds: string;
  /** Host of the sample repositories, as instances reach it. */
  readonly gitHost: string;
  /** What proves Git hosts that no public authority vouches for. */
  readonly trust?: {
    readonly certificateAuthorities: readonly { readonly host: string; readonly certificates: string }[];
    readonly sshKnownHosts: string;
  };
  /** Seconds between two comparisons of an application to which nothing happens. */
  readonly reconciliationSeconds?: number;
  /**
   * The images with their digests, where nodes run images. Absent: the names that a node which runs none knows; that one runs pods of
   * unknown images without a process.
   */
  readonly images?: FleetImages;
  /** Largest number of applications of an instance, and of deployments of a workspace. By default sized for a laptop. */
  readonly quotas?: { readonly applications: number; readonly deployments: number };
}

/**
 * A Fleet document that allows plain HTTP repositories on loopback. It has the names of the real images: the development
 * cluster runs the same programs as processes.
 */
export function fleetDocument(facts: FleetFacts): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "argosy.dev/v1alpha1",
    kind: "Fleet",
    engineClusters: facts.engineClusters.map(({ name, kubeconfigSecret, reach }) => ({
      ...{ name, region: "local", kubeconfigSecret },
      ...(reach === undefined ? {} : { reach }),
    })),
    versions: {
      default: facts.version,
      floor: "3.5.1",
      catalogue: [
        {
          version: facts.version,
          ...(facts.images ?? imagesByName(facts.version)),
          crds: facts.crds,
        },
      ],
    },
    pools: [
      {
        name: "standard",
        class: { region: "local", tier: "shared", trust: "public" },
        engineClusters: facts.engineClusters.map(({ name }) => name),
        instances: facts.instances,
        capacity: {
          applications: facts.quotas?.applications ?? 1000,
          clusterEntries: 30,
          cachedResources: 100_000,
          milliCpu: 2000,
          gitPerMinute: 600,
        },
        resources: {
          controller: { memory: (facts.quotas?.applications ?? 0) > 3_000 ? "4Gi" : "2Gi", cpu: "2" },
          repoServer: { replicas: 1 },
        },
        ...(facts.reconciliationSeconds === undefined ? {} : { engine: { reconciliationSeconds: facts.reconciliationSeconds } }),
      },
    ],
    // Whoever has this cluster for development makes namespaces by hand.
    workspaces: { everyNamespace: true, ...(facts.quotas === undefined ? {} : { quota: { deployments: facts.quotas.deployments } }) },
    egress: { allow: [facts.gitHost === "127.0.0.1" ? "127.0.0.0/8" : `${facts.gitHost}/32`], http: [facts.gitHost], ...facts.trust },
  };
}
