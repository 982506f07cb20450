/** Key of a resource in queues: `cluster|namespace|name`. */
export function deploymentKey(cluster: string, at: { readonly namespace: string; readonly name: string }): string {
  return `${cluster}|${at.namespace}|${at.name}`;
}

export function parseKey(key: string): { readonly cluster: string; readonly namespace: string; readonly name: string } {
  const [cluster = "", namespace = "", name = ""] = key.split("|");
  return { cluster, namespace, name };
}
