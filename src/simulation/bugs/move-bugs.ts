import { ANNOTATION_ARRIVING, ANNOTATION_PAUSE } from "../../shard/names.ts";
import { type Bug, seeing, withPorts } from "./bug.ts";
import { keptFor } from "./kept-answers.ts";

import {
  AUTOMATED,
  byCascade,
  createMemory,
  inPhase,
  mapSource,
  mapTarget,
  ofObservations,
  withFailure,
  writing,
} from "./move-breakers.ts";

/** Hand-overs that go wrong, after the list of moves that were found unsafe before one was written. */
export const MOVE_BUGS: readonly Bug[] = [
  {
    name: "two-creators",
    about: "copies are made at work: not paused, and syncing by themselves",
    ...{ property: "idle", scenario: "moves" },
    breaker: ofObservations(({ create }) => ({
      create(manifest, signal) {
        const { [ANNOTATION_PAUSE]: _pause, ...annotations } = manifest.metadata.annotations;
        const spec = { ...(manifest["spec"] as object), syncPolicy: { automated: AUTOMATED } };
        return create({ ...manifest, metadata: { ...manifest.metadata, annotations }, spec }, signal);
      },
    })),
  },
  {
    name: "source-by-cascade",
    about: "a source is let loose before it goes, and goes by a cascade, which it has no right to any more",
    ...{ property: "I4", scenario: "moves" },
    breaker: (ports, party) =>
      seeing((world) => mapSource(world, (observation) => ({ ...observation, finalizers: [] })))(writing(byCascade)(ports, party), party),
  },
  {
    name: "edits-by-events",
    about: "what applications are to be is read when a move begins; what came meanwhile was news once, and nobody looks again",
    ...{ property: "I6", scenario: "move-chaos", seed: 2 },
    breaker(ports) {
      const { shards, changes } = ports.store;
      const remembered = createMemory();
      const isLoud = (kinds: ReadonlySet<string>): boolean => kinds.has("unit") && kinds.has("application");
      const subscribe: typeof changes.subscribe = (listener) =>
        changes.subscribe((notifications) => {
          if (notifications === "missed" || !isLoud(new Set(notifications.map(({ kind }) => kind)))) return listener(notifications);
          return listener(notifications.filter(({ kind }) => kind !== "application"));
        });
      const listLagging: typeof shards.listLagging = async () => ({ units: [], applications: [] });
      const store = { ...ports.store, changes: { ...changes, subscribe }, shards: { ...shards, listLagging } };
      return { ...ports, store, decide: (move, world) => ports.decide(move, remembered(world, move)) };
    },
  },
  {
    name: "barrier-skipped",
    about: "a source is paused without waiting until it has looked once more",
    ...{ property: "whole", scenario: "moves" },
    breaker: seeing(inPhase("QUIESCE", (world) => mapSource(world, (observation) => ({ ...observation, awaitsRefresh: false })))),
  },
  {
    name: "paused-too-soon",
    about: "a source is paused, and its right is taken, while a sync is under way",
    ...{ property: "whole", scenario: "moves" },
    breaker: seeing(
      inPhase("QUIESCE", (world) =>
        mapSource(world, (observation) => ({ ...observation, sync: { ...observation.sync, operation: undefined, state: undefined } })),
      ),
    ),
  },
  {
    name: "failure-copied",
    about: "copies are told of syncs that failed, or were ended, on their source",
    ...{ property: "whole", scenario: "move-chaos" },
    breaker: writing(withFailure),
  },
  {
    name: "orphans-unseen",
    about: "nobody looks for copies that were made after their move was given up",
    ...{ property: "settled", scenario: "move-stale-workers" },
    breaker: withPorts(({ engines }) => ({
      engines: {
        async get(cluster) {
          const engine = await engines.get(cluster);
          if (engine === undefined) return undefined;
          const list: typeof engine.applications.list = (namespace) =>
            engine.applications.list(namespace).filter(({ annotations }) => annotations[ANNOTATION_ARRIVING] === undefined);
          return { ...engine, applications: { ...engine.applications, list } };
        },
      },
    })),
  },
  {
    name: "granted-unproven",
    about: "the target gets the right as soon as the register names nobody, whatever API servers say",
    ...{ property: "I1", scenario: "move-frozen-server" },
    breaker: seeing(inPhase("REVOKE", (world) => ({ ...world, isRefusalProven: true }))),
  },
  {
    name: "time-for-a-fence",
    about: "after twenty seconds the old owner counts as refused",
    ...{ property: "I1", scenario: "move-frozen-server", seed: 3 },
    breaker: seeing(
      inPhase("REVOKE", (world, move) => ({ ...world, isRefusalProven: world.isRefusalProven || world.now - move.phaseSince > 20_000 })),
    ),
  },
  {
    name: "away-for-dead",
    about: "a source that nobody reaches counts as one that does nothing: the right goes on at once",
    ...{ property: "I1", scenario: "move-fail-over" },
    breaker: seeing(inPhase("REVOKE", (world, move) => ({ ...world, isRefusalProven: world.isRefusalProven || move.isFailOver }))),
  },
  {
    name: "first-answer-kept",
    about: "API servers are asked over one connection, so that whoever answers first answers for the others for ten seconds",
    ...{ property: "I1", scenario: "move-frozen-server", seed: 124 },
    breaker: (ports, { clock }) => ({ ...ports, managed: { ...ports.managed, ask: keptFor(10_000, clock, ports.managed.ask) } }),
  },
  {
    name: "silence-counted",
    about: "an API server that does not answer counts as one that refused",
    ...{ property: "I1", scenario: "move-frozen-server", seed: 3 },
    breaker: withPorts(({ managed }) => ({
      managed: {
        ...managed,
        async ask(user, namespace, signal) {
          const answers = await managed.ask(user, namespace, signal);
          const no = { isAllowed: false, trial: { status: 403, message: `User "${user}" cannot create` } };
          return answers.map((each) => (each.isAllowed === undefined || each.trial.status === undefined ? { ...each, ...no } : each));
        },
      },
    })),
  },
  {
    name: "ending-copy-loosed",
    about: "a copy that somebody deleted with a cascade is let loose all the same",
    ...{ property: "I2", scenario: "move-chaos" },
    breaker: seeing((world) => mapTarget(world, (observation) => ({ ...observation, isDeleting: false }))),
  },
  {
    name: "tests-dropped",
    about: "patches test neither version nor epoch of what they change",
    ...{ property: "I7", scenario: "move-stale-workers", seed: 3 },
    breaker: writing(({ side, write }) => ({
      side,
      write: write.kind === "change" ? { ...write, patch: write.patch.filter(({ op }) => op !== "test") } : write,
    })),
  },
  {
    name: "preconditions-dropped",
    about: "deletions go to whatever has the name",
    ...{ property: "I2", scenario: "move-stale-workers" },
    breaker: ofObservations(({ delete: remove }) => ({
      delete: (at, _preconditions, signal) => remove(at, {} as typeof _preconditions, signal),
    })),
  },
  {
    name: "moves-by-events",
    about: "hints of the database are all that carries a move on",
    ...{ property: "I4", scenario: "move-crashes" },
    breaker: withPorts(({ store }) => {
      const list: typeof store.moves.list = async (filter, limit, signal) =>
        (await store.moves.list(filter, limit, signal)).filter(({ phase }) => filter.isLive !== true || phase === "WAITING");
      return { store: { ...store, moves: { ...store.moves, list } } };
    }),
  },
  {
    name: "owner-remembered",
    about: "applications are brought about where they were seen first, whoever owns them since",
    ...{ property: "settled", scenario: "moves" },
    breaker: withPorts(({ store }) => {
      const seen = new Map<string, Awaited<ReturnType<typeof store.shards.readApplications>>[number]["unit"]>();
      const readApplications: typeof store.shards.readApplications = async (ids, signal) =>
        (await store.shards.readApplications(ids, signal)).map((row) => {
          if (row.unit.owner !== undefined && !seen.has(row.application.id)) seen.set(row.application.id, { ...row.unit, phase: "IDLE" });
          return { ...row, unit: seen.get(row.application.id) ?? row.unit };
        });
      return { store: { ...store, shards: { ...store.shards, readApplications } } };
    }),
  },
];
