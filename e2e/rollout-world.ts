import { parseImage } from "../hack/dev-cluster/process-node/image.ts";
import type { RolloutView } from "../src/api/rollout-views.ts";
import type { InstanceView } from "../src/api/schema.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { inSeconds } from "./in-seconds.ts";
import { until, type Workspace, type World } from "./world.ts";

/** Timeout of a story's rollout, on a busy machine. */
export const ROLLOUT_MS = 10 * 60_000;
const PODS = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

type Pod = KubeObject & { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } };

/** A rollout in one pool, and what can be observed of it. */
export interface RolloutWorld {
  /** Instances of the pool. */
  ownInstances(): Promise<readonly InstanceView[]>;
  read(rollout: Pick<RolloutView, "id">): Promise<RolloutView>;
  ended(rollout: Pick<RolloutView, "id" | "version">): Promise<RolloutView>;
  /** Tags of the Argo CD images that an instance's pods are to run. */
  imagesOf(instance: string): Promise<readonly string[]>;
  /** Observes what users see until it is stopped. Returns every state that was worse than before. */
  watchUsers(workspaces: readonly Workspace[]): () => Promise<{ readonly observations: number; readonly regressions: readonly string[] }>;
}

export function openRollouts(world: World, pool: string): RolloutWorld {
  const read: RolloutWorld["read"] = ({ id }) => world.rest.get<RolloutView>(`/v1/rollouts/${id}`);
  return {
    read,
    ownInstances: async () => (await world.rest.all<InstanceView>("/v1/instances")).filter((one) => one.pool === pool),
    ended: (rollout) =>
      until(
        `the end of the rollout of ${rollout.version}`,
        () => read(rollout),
        ({ state }) => ["DONE", "FAILED", "ABORTED"].includes(state),
        ROLLOUT_MS,
      ),
    async imagesOf(name) {
      const { items } = await world.kube.listPage<Pod>(PODS, { namespace: `argosy-${name}` }, world.signal);
      const argo = items.filter(
        ({ metadata }) => metadata.deletionTimestamp === undefined && metadata.labels?.["app.kubernetes.io/component"] !== "redis",
      );
      return [...new Set(argo.map(({ spec }) => parseImage(spec?.containers?.[0]?.image ?? "").tag ?? ""))].sort();
    },
    watchUsers(workspaces) {
      const regressions: string[] = [];
      let observations = 0;
      const watching = again(50, async () => {
        for (const workspace of workspaces) {
          const { sync, health } = (await workspace.read("app"))?.status ?? {};
          if (sync?.status !== "Synced" || health?.status !== "Healthy")
            regressions.push(`${workspace.namespace}: ${sync?.status} ${health?.status}`);
        }
        observations += 1;
      });
      return async () => {
        await watching.end();
        return { observations, regressions };
      };
    },
  };
}

/**
 * What happened in a wave, for people: its instances in the order in which they got the release, its bake, and the
 * readings of its gates.
 */
export function storyOf({ name, instances, bakingSince, passedAt, passedBy, gates }: RolloutView["waves"][number]): readonly string[] {
  const inOrder = instances.toSorted((a, b) => ((a.askedAt ?? "") < (b.askedAt ?? "") ? -1 : 1));
  const ms = (from: string | null, to: string | null) => Date.parse(to ?? "") - Date.parse(from ?? "");
  const reported = inOrder.map(
    (one) => `${one.name} with ${one.units} units, ready ${inSeconds(ms(one.askedAt, one.readyAt))} after its order`,
  );
  return [
    `${name}: ${reported.join("; ")}`,
    `${name}: baked for ${inSeconds(ms(bakingSince, passedAt))}, passed by ${passedBy}`,
    `${name}: ${gates.map(({ gate, text }) => `${gate} ${text}`).join("; ")}`,
  ];
}
