import { GoneError, StaleError } from "../../../src/domain/errors.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { type Pod, type PodCondition, podType } from "./pod.ts";
import { type ContainerView, renderStatus, type StatusFacts } from "./pod-status.ts";

/** Reports pods to the API server, each status once. */
export interface StatusWriter {
  write(pod: Pod, facts: StatusFacts & { readonly views: readonly ContainerView[] }, signal: AbortSignal): Promise<void>;
  forget(uid: string): void;
}

export function createStatusWriter(client: KubeClient): StatusWriter {
  const written = new Map<string, { readonly text: string; readonly conditions: readonly PodCondition[] }>();
  return {
    async write(pod, facts, signal) {
      const { uid, namespace, name } = pod.metadata;
      // The watch may not have shown the last write yet. Without it a condition's time would change for no reason.
      const own = written.get(uid)?.conditions ?? [];
      const foreign = (pod.status?.conditions ?? []).filter(({ type }) => !own.some((condition) => condition.type === type));
      const status = renderStatus({ ...pod, status: { ...pod.status, conditions: [...foreign, ...own] } }, facts, facts.views) as {
        readonly conditions: readonly PodCondition[];
      };
      const text = JSON.stringify(status);
      if (written.get(uid)?.text === text) return;
      try {
        await client.mergePatch(podType, { namespace, name, subresource: "status" }, { metadata: { uid }, status }, signal);
        written.set(uid, { text, conditions: status.conditions.filter(({ type }) => type !== "PodScheduled") });
      } catch (error) {
        // It is gone, or it is another pod of that name. The watch will show that.
        if (!(error instanceof GoneError) && !(error instanceof StaleError)) throw error;
      }
    },
    forget: (uid) => written.delete(uid),
  };
}
