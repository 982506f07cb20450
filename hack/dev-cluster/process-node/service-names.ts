export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Replaces names of Services by addresses in an argument or variable: `argocd-redis:6379`,
 * `--redis=argocd-redis:6379`, `https://metrics.other.svc:8443/path`, and comma-separated lists of these. The
 * processes of a pod have no name server, so a program needs addresses when it starts. A single word may be any name,
 * and stays.
 *
 * `addressOf` gives the address for names that are Services. Short names are names of the pod's namespace, as in a
 * cluster.
 */
export function replaceServiceNames(text: string, namespace: string, addressOf: (service: ServiceName) => string | undefined): string {
  return text.replace(hostPattern, (whole: string, before: string, host: string, port: string | undefined) => {
    const isHost = port !== undefined || before === "//" || /\.svc(\.|$)/.test(host);
    const service = isHost ? serviceOf(host, namespace) : undefined;
    const address = service && addressOf(service);
    return address === undefined ? whole : before + address + (port ?? "");
  });
}

/** A host name at the start of the text or after `=`, `,` or `//`, perhaps with a port, and at the end of the text or before `/` or `,`. */
const hostPattern = /(^|=|,|\/\/)([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(:\d+)?(?=$|\/|,)/g;

/** `name`, `name.namespace`, `name.namespace.svc` and the cluster's own domain; anything else is no Service. */
export function serviceOf(host: string, namespace: string): ServiceName | undefined {
  if (host === "" || host === "localhost") return undefined;
  const [name = "", space = namespace, ...domain] = host.split(".");
  const rest = domain.join(".");
  return rest === "" || rest === "svc" || rest === "svc.cluster.local" ? { namespace: space, name } : undefined;
}
