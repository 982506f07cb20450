/** A release of Kubernetes whose API manifests are held against. */
export interface ApiVersion {
  /** As people say it: `1.35`. */
  readonly minor: string;
  /** Version of the Go module k8s.io/kubernetes whose `api/openapi-spec/swagger.json` says what it serves, without its `v`. */
  readonly release: string;
  /** Of that module, as in a go.sum. A go.sum cannot hold it: a module file requires one version of a module. */
  readonly sum: string;
}

/** Oldest first. */
export const API_VERSIONS = [
  { minor: "1.33", release: "1.33.13", sum: "h1:bmH31xUdSzeA5vk0wZAK9MZp11mdLuzUSeKk0qN3hPQ=" },
  { minor: "1.34", release: "1.34.10", sum: "h1:mB1KE7E2BonfpnGyim/+csCR5JMAoLsXt2xPXL5+DdY=" },
  { minor: "1.35", release: "1.35.8", sum: "h1:nqVTiKGbHuwTNjCn1dvK2tjOFie7J7SUMyZWDNsNHgA=" },
] as const satisfies readonly ApiVersion[];

export type KubernetesMinor = (typeof API_VERSIONS)[number]["minor"];
