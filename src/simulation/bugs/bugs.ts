import { ANNOTATION_EPOCH } from "../../domain/names.ts";
import type { ManagedObjects } from "../../reconciler/port.ts";
import { FORGET_SYNC } from "../../shard/arrival.ts";
import { UNMARK_STOPPED } from "../../shard/automated-sync.ts";
import type { PatchOperation } from "../../shard/diff-object.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import type { ObservedBinding } from "../../shard/parse-rights.ts";
import { CASCADE_FINALIZER } from "../../shard/plan-application.ts";
import { TERMINATE } from "../../shard/restlessness.ts";
import type { Breaker } from "../fleet/argosy.ts";
import { type Bug, withApplications, withPorts } from "./bug.ts";
import { CLASS_BUGS } from "./class-bugs.ts";
import { DRAWN_BUGS } from "./drawn-bugs.ts";
import { MOVE_BUGS } from "./move-bugs.ts";
import { PART_BUGS } from "./part-bugs.ts";
import { REDIRECT_BUGS } from "./redirect-bugs.ts";

type Change<T extends ObservedObject> = (objects: ManagedObjects<T>) => Partial<ManagedObjects<T>>;

const ofApplications = (change: Parameters<typeof withApplications>[1]): Breaker =>
  withPorts(({ engines }) => ({ engines: withApplications(engines, change) }));

const ofBindings =
  (change: Change<ObservedBinding>): Breaker =>
  (ports) => ({
    ...ports,
    apiCluster: { ...ports.apiCluster, bindings: { ...ports.apiCluster.bindings, ...change(ports.apiCluster.bindings) } },
  });

const isAboutFinalizers = ({ path }: PatchOperation): boolean => path === "/metadata/finalizers";
const STRANGER = "u-stranger";

const BUGS_AT_REST: readonly Bug[] = [
  {
    name: "two-subjects",
    about: "an owner binding is written with a second subject besides the owner's account",
    ...{ property: "I1", scenario: "steady" },
    breaker: ofBindings(({ create }) => ({
      create: (manifest, signal) =>
        create(
          { ...manifest, subjects: [...((manifest["subjects"] ?? []) as object[]), { kind: "ServiceAccount", name: STRANGER }] },
          signal,
        ),
    })),
  },
  {
    name: "wrong-owner",
    about: "an owner binding names another account than the owner's",
    ...{ property: "I8", scenario: "steady" },
    breaker: ofBindings(({ create }) => ({
      create: (manifest, signal) => create({ ...manifest, subjects: [{ kind: "ServiceAccount", name: STRANGER }] }, signal),
    })),
  },
  {
    name: "epoch-forgotten",
    about: "a patch writes epoch 0 instead of the epoch under which it was decided",
    ...{ property: "I7", scenario: "steady" },
    breaker: ofApplications(({ patch }) => ({
      patch: (at, steps, signal) =>
        patch(at, [...steps, { op: "add", path: `/metadata/annotations/${ANNOTATION_EPOCH.replace("/", "~1")}`, value: "0" }], signal),
    })),
  },
  {
    name: "cascade-dropped",
    about: "an Application is deleted without the finalizer that makes Argo CD delete what it deployed",
    ...{ property: "settled", scenario: "steady" },
    breaker: ofApplications(({ patch }) => ({
      patch: (at, steps, signal) =>
        patch(at, steps.some(isAboutFinalizers) ? steps.filter((step) => !isAboutFinalizers(step)) : steps, signal),
    })),
  },
  {
    name: "neighbour-deleted",
    about: "whoever deletes an Application deletes another one of the same instance with it",
    ...{ property: "I2", scenario: "steady" },
    breaker: ofApplications(({ delete: remove, list, patch }) => ({
      async delete(at, preconditions, signal) {
        await remove(at, preconditions, signal);
        const other = list(at.namespace).find((each) => each.at.name !== at.name && !each.isDeleting);
        if (other === undefined) return;
        const marked = await patch(other.at, [{ op: "add", path: "/metadata/finalizers", value: [CASCADE_FINALIZER] }], signal);
        await remove(other.at, { uid: marked.uid, resourceVersion: marked.resourceVersion }, signal);
      },
    })),
  },
  {
    name: "gone-too-soon",
    about: "an Application that is being deleted counts as gone",
    ...{ property: "held", scenario: "tenant-chaos" },
    breaker: ofApplications((objects) => ({
      get: (at) => unlessDeleting(objects.get(at)),
      read: async (at, signal) => unlessDeleting(await objects.read(at, signal)),
      list: (namespace) => objects.list(namespace).filter((each) => !each.isDeleting),
    })),
  },
  {
    name: "failure-remembered",
    about: "an Application that follows Git again after its move was given up keeps the failed sync that the move had stopped",
    ...{ property: "settled", scenario: "move-given-up", seed: 3 },
    breaker: ofApplications(({ patch }) => ({
      patch: (at, steps, signal) =>
        patch(
          at,
          steps.filter((step) => step.path !== "/status/operationState"),
          signal,
        ),
    })),
  },
  {
    name: "outdated-sync-kept",
    about: "a failing sync is retried with the source that it began with, although its user wants another one by now",
    ...{ property: "settled", scenario: "failing-syncs" },
    breaker: ofApplications(({ patch }) => ({
      patch: (at, steps, signal) =>
        patch(
          at,
          steps.filter((step) => step !== TERMINATE),
          signal,
        ),
    })),
  },
  {
    name: "stopped-sync-remembered",
    about: "a sync that was ended because its source changed counts as an attempt when its user wants that source again",
    ...{ property: "settled", scenario: "failing-syncs", seed: 12 },
    breaker: ofApplications(({ patch }) => ({
      patch: (at, steps, signal) =>
        patch(
          at,
          steps.filter(({ path }) => path !== FORGET_SYNC.path && path !== UNMARK_STOPPED.path),
          signal,
        ),
    })),
  },
  {
    name: "right-sync-ended",
    about: "a change of the spec ends a running sync although it deploys what its user wants",
    ...{ property: "whole", scenario: "failing-syncs" },
    breaker: ofApplications(({ get, patch }) => ({
      patch: (at, steps, signal) => patch(at, get(at)?.sync.state?.phase === "Running" ? [...steps, TERMINATE] : steps, signal),
    })),
  },
  {
    name: "events-only",
    about: "the scheduler relies on the database's notifications alone: nothing is swept",
    ...{ property: "settled", scenario: "database-fail-over", seed: 35 },
    breaker: (ports) => ({
      ...ports,
      store: {
        ...ports.store,
        placements: { ...ports.store.placements, listUnsettled: async () => [] },
        changes: {
          ...ports.store.changes,
          subscribe: (listener) =>
            ports.store.changes.subscribe((notifications) => (notifications === "missed" ? undefined : listener(notifications))),
        },
      },
    }),
  },
  {
    name: "late-acknowledgement",
    about: "Applications are acknowledged under the previous epoch: the store ignores that, so it is repeated for ever",
    ...{ property: "quiet", scenario: "steady" },
    breaker(ports) {
      const { shards } = ports.store;
      const acknowledge: typeof shards.acknowledge = (objects, signal) =>
        shards.acknowledge(
          objects.map((object) => (object.kind === "application" ? { ...object, epoch: object.epoch - 1 } : object)),
          signal,
        );
      return { ...ports, store: { ...ports.store, shards: { ...shards, acknowledge } } };
    },
  },
];

/** Those of deployments, of hand-overs, of fail-overs from the target of a move, and those that only drawn scenarios found first. */
export const BUGS: readonly Bug[] = [...BUGS_AT_REST, ...MOVE_BUGS, ...REDIRECT_BUGS, ...CLASS_BUGS, ...PART_BUGS, ...DRAWN_BUGS];

function unlessDeleting<T extends ObservedObject>(found: T | undefined): T | undefined {
  return found?.isDeleting === true ? undefined : found;
}
