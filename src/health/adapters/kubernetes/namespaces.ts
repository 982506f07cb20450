import type { EngineObject } from "../../../domain/engine.ts";
import { contentHash } from "../../../domain/hash.ts";
import { FIELD_MANAGER, LABEL_CANARY } from "../../../domain/names.ts";
import type { ProbedPod } from "../../../domain/probed.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { listInPages } from "../../../runtime/kube/list.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import { renderCanaries } from "../../canaries.ts";
import { parsePod, parseProbed, REFRESH } from "../../parse-probed.ts";
import type { OpenNamespace } from "../../port.ts";

const ARGO = { group: "argoproj.io", version: "v1alpha1", namespaced: true };
export const APPLICATIONS: ResourceType = { ...ARGO, plural: "applications", kind: "Application" };
export const PROJECTS: ResourceType = { ...ARGO, plural: "appprojects", kind: "AppProject" };
const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
/**
 * A new value each time. A changed Application reaches the controller's cache in its newest version, even if the
 * controller missed an earlier change.
 */
const ASKED = "argosy.dev/asked";
/** Long enough for a healthy pod to end by itself. The old controller has to be gone before its successor begins. */
const GRACE_S = 5;
/** Objects in one page of a list. */
const PAGE = 100;

/** Opens the namespaces of instances on their engine clusters. `server`: the API cluster's address, as instances reach it. */
export function createNamespaces(clientOf: (engineCluster: string) => Promise<KubeClient | undefined>, server: string): OpenNamespace {
  return async ({ engineCluster, namespace }) => {
    const client = await clientOf(engineCluster);
    if (client === undefined) return undefined;
    const list = async (labelSelector: string, limit: number, signal: AbortSignal) => {
      const { items } = await client.listPage<unknown>(APPLICATIONS, { namespace, labelSelector, limit }, signal);
      return items.flatMap((raw) => parseProbed(raw) ?? []);
    };
    return {
      async ensureCanaries(source, signal) {
        const found = await Promise.all(
          [PROJECTS, APPLICATIONS].map((type) =>
            client.listPage<KubeObject>(type, { namespace, labelSelector: LABEL_CANARY, limit: PAGE }, signal),
          ),
        );
        const contents = new Set(found.flatMap(({ items }) => items.map(contentOf)));
        for (const object of renderCanaries(namespace, server, source)) {
          const type = object.kind === "AppProject" ? PROJECTS : APPLICATIONS;
          if (!contents.has(contentOf(object)))
            await client.apply(type, object as KubeObject, { fieldManager: FIELD_MANAGER, decode: false }, signal);
        }
      },
      async removeCanaries(signal) {
        for (const type of [APPLICATIONS, PROJECTS]) {
          const { items } = await client.listPage<KubeObject>(type, { namespace, labelSelector: LABEL_CANARY, limit: PAGE }, signal);
          for (const { metadata } of items) await client.delete(type, { namespace, name: metadata.name }, {}, signal);
        }
      },
      async askFor(name, at, signal) {
        const asked = { metadata: { annotations: { [REFRESH]: "normal", [ASKED]: String(at) } } };
        return parseProbed(await client.mergePatch(APPLICATIONS, { namespace, name }, asked, signal));
      },
      listCanaries: (signal) => list(LABEL_CANARY, PAGE, signal),
      sampleApplications: (limit, signal) => list(`!${LABEL_CANARY}`, limit, signal),
      async listPods(signal) {
        // In pages: evicted pods stay in the list until the cluster removes them, and must not hide those that run.
        const pods: ProbedPod[] = [];
        const onObject = (raw: KubeObject): void => {
          const pod = parsePod(raw);
          if (pod !== undefined) pods.push(pod);
        };
        await listInPages({ client, type: PODS, options: { namespace, limit: PAGE }, onObject }, signal);
        return pods;
      },
      deletePod: (name, signal) => client.delete(PODS, { namespace, name }, { gracePeriodSeconds: GRACE_S }, signal),
    };
  };
}

/** What a canary is and compares, as a hash. A server that adds something to it has it written again each time, and nothing else comes of it. */
function contentOf(object: EngineObject | KubeObject): string {
  const { name, labels = {} } = object.metadata;
  return contentHash([name, labels[LABEL_CANARY] ?? "", (object as { readonly spec?: unknown }).spec ?? {}]);
}
