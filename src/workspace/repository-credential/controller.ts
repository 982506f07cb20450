import type { Change } from "../../domain/change.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Ids } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { deploymentKey, shareOf } from "../keys.ts";
import type { ResourceAt, UserKindResources, UserResources, UserSecrets } from "../port.ts";
import { isAboutFleet } from "../workspace-policy.ts";
import { createLooks } from "./looks/controller.ts";
import { secretNameOf } from "./plan-review.ts";
import type { RepositoryLooker } from "./port.ts";
import { createReviewController } from "./review/controller.ts";
import { createCredentialUpkeep } from "./upkeep/controller.ts";

/** A watch of one kind, and its life. */
type Watched = UserKindResources & Pick<UserSecrets, "start" | "synced" | "stopped">;

export interface CredentialDoorDeps {
  readonly store: Pick<Store, "repositoryCredentials" | "fleet" | "changes">;
  /** The users' GitOpsDeploymentRepositoryCredentials. */
  readonly resources: Watched;
  readonly secrets: UserSecrets;
  /** Watched by somebody else, who starts and stops it. */
  readonly namespaces: Pick<UserResources, "namespace" | "readNamespaceUid" | "synced" | "subscribe">;
  readonly looker: RepositoryLooker;
  /** Looks at once. */
  readonly looksAtOnce: number;
  readonly apiCluster: string;
  /** This process's share of the namespaces. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface CredentialDoor {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

/** The door for credentials of repositories: what users bring in, whether it works out. */
export function createCredentialDoor(deps: CredentialDoorDeps): CredentialDoor {
  const { store, resources, secrets, namespaces, apiCluster, partition } = deps;
  const common = { ...deps, store: store.repositoryCredentials };
  const abort = new AbortController();
  const endings: (() => void)[] = [];
  const keyOf = (at: ResourceAt): string => deploymentKey(apiCluster, at);

  const review = (keys: readonly string[]): void => {
    for (const { key, group } of shareOf(keys, partition)) reviews.add(key, { group });
  };
  const reviewNamespace = (name: string): void => review(resources.list(name).map(keyOf));
  const looks = createLooks({ ...common, onLook: (key) => review([key]) });
  const upkeep = createCredentialUpkeep({
    ...common,
    fleet: store.fleet,
    review,
    onReady: () => [reviews, looks].forEach((q) => q.start()),
  });
  const reviews = createReviewController({
    ...common,
    looks: () => looks,
    policy: upkeep.policy,
    onChanged: reviewNamespace,
  });

  const namersOf = ({ namespace, name }: ResourceAt) => resources.list(namespace).filter(({ spec }) => secretNameOf(spec) === name);
  const isNamed = (at: ResourceAt): boolean => partition.isMine(at.namespace) && namersOf(at).length > 0;
  const onChanges = (changes: readonly Change[] | "missed"): void => {
    if (changes === "missed" || changes.some(isAboutFleet)) upkeep.add("policy");
  };

  return {
    start(signal) {
      const either = AbortSignal.any([signal, abort.signal]);
      endings.push(
        resources.subscribe((at) => review([keyOf(at)])),
        secrets.subscribe((at) => review(namersOf(at).map(keyOf)), isNamed),
        namespaces.subscribe((change) => change.kind === "namespace" && reviewNamespace(change.name)),
        store.changes.subscribe(onChanges),
        partition.onChange(() => review(resources.list().map(keyOf))),
      );
      resources.start(either);
      secrets.start(either);
      // Rejects only when it is stopped before everything was listed.
      Promise.all([resources, secrets, namespaces].map((each) => each.synced(either))).then(
        () => upkeep.start(either),
        () => {},
      );
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await Promise.all([upkeep.stop(), reviews.stop(), looks.stop()]);
      abort.abort(new Error("the door for repository credentials closes"));
      await Promise.all([resources.stopped(), secrets.stopped()]);
    },
  };
}
