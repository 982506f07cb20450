import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";

const clusterScoped = new Set([
  "Namespace",
  "Node",
  "ClusterRole",
  "ClusterRoleBinding",
  "CustomResourceDefinition",
  "PriorityClass",
  "StorageClass",
]);

/** The type of an object. Its plural follows a simple rule, which is good enough for the objects of tests. */
export function typeOf(object: KubeObject): ResourceType {
  const [group = "", version = ""] = object.apiVersion?.includes("/") ? object.apiVersion.split("/") : ["", object.apiVersion];
  const kind = object.kind ?? "";
  const lower = kind.toLowerCase();
  const plural = lower.endsWith("y") ? `${lower.slice(0, -1)}ies` : lower.endsWith("s") ? `${lower}es` : `${lower}s`;
  return { group, version, plural, kind, namespaced: !clusterScoped.has(kind) };
}

/** Applies objects one after another, in the order given. */
export async function applyAll(client: KubeClient, objects: readonly object[], signal: AbortSignal): Promise<void> {
  for (const object of objects as readonly KubeObject[])
    await client.apply(typeOf(object), object, { fieldManager: "development", decode: false }, signal);
}

/**
 * Applies the CRDs of applications and projects from a folder. Resolves when the API server serves them. The third
 * CRD, of ApplicationSets, is left out: it takes longer than both to read and to serve.
 */
export async function applyCrds(client: KubeClient, folder: string, signal: AbortSignal): Promise<void> {
  const files = (await readdir(folder)).filter((name) => /^(application|appproject)-crd\.yaml$/.test(name));
  const crds = await Promise.all(files.map(async (name) => parse(await readFile(join(folder, name), "utf8")) as KubeObject));
  await applyAll(client, crds, signal);
  for (const crd of crds) await established(client, crd, signal);
}

interface Crd extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function established(client: KubeClient, crd: KubeObject, signal: AbortSignal): Promise<void> {
  for (;;) {
    const found = await client.get<Crd>(typeOf(crd), { namespace: "", name: crd.metadata.name }, signal);
    if (found?.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
