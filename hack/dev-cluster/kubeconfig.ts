/** The content of a kubeconfig: how to reach an API server. */
export interface KubeconfigEntry {
  readonly name: string;
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly namespace?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** A file that holds a bearer token and may change. */
  readonly tokenFile?: string;
}

/** Renders a kubeconfig with one context, as JSON: every YAML parser reads it. */
export function renderKubeconfig(entry: KubeconfigEntry): string {
  const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
  const certificate = entry.certificate && {
    "client-certificate-data": base64(entry.certificate.cert),
    "client-key-data": base64(entry.certificate.key),
  };
  const document = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: entry.name, cluster: { server: entry.server, "certificate-authority-data": base64(entry.ca) } }],
    users: [{ name: entry.name, user: { ...certificate, ...(entry.tokenFile === undefined ? {} : { tokenFile: entry.tokenFile }) } }],
    contexts: [
      {
        name: entry.name,
        context: { cluster: entry.name, user: entry.name, ...(entry.namespace === undefined ? {} : { namespace: entry.namespace }) },
      },
    ],
    "current-context": entry.name,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
