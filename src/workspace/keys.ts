import type { Partition } from "../domain/partition.ts";

/** Key of a resource in queues: `cluster|namespace|name`. */
export function deploymentKey(cluster: string, at: { readonly namespace: string; readonly name: string }): string {
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

/** Of these keys, those of this process's namespaces, each with the namespace it takes turns as. */
export function shareOf(
  keys: readonly string[],
  { isMine }: Pick<Partition, "isMine">,
): readonly { readonly key: string; readonly group: string }[] {
  return keys.map((key) => ({ key, group: parseKey(key).namespace })).filter(({ group }) => isMine(group));
}
