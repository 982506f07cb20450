/** Key of a resource in queues: `cluster|namespace|name`. */
export function resourceKey(cluster: string, at: { readonly namespace: string; readonly name: string }): string {
  return `${cluster}|${at.namespace}|${at.name}`;
}

export function parseKey(key: string): { readonly cluster: string; readonly namespace: string; readonly name: string } {
  const [cluster = "", namespace = "", name = ""] = key.split("|");
  return { cluster, namespace, name };
}

/** The group of a key: namespaces are shared out among processes, and take turns. */
export function namespaceOf(key: string): string {
  return parseKey(key).namespace;
}
