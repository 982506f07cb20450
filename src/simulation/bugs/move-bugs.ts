import { ANNOTATION_ARRIVING, ANNOTATION_PAUSE } from "../../shard/names.ts";
import { type Bug, seeing, withApplications, withPorts } from "./bug.ts";
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

/** Hand-overs that go wrong, after a list of unsafe ways to move that was written before the mover was. */
export const MOVE_BUGS: readonly Bug[] = [
  {
    name: "two-creators",
    about: "copies are created active: not paused, and syncing by themselves",
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
    about: "a source is unpaused and deleted with a cascade, for which its instance has no right any more",
    ...{ property: "I4", scenario: "moves" },
    breaker: (ports, party) =>
      seeing((world) => mapSource(world, (observation) => ({ ...observation, finalizers: [] })))(writing(byCascade)(ports, party), party),
  },
  {
    name: "edits-by-events",
    about: "a move reads what is desired when it begins; a change that comes later is notified once and never read again",
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
    about: "a source is paused without waiting for its last refresh",
    ...{ property: "whole", scenario: "moves" },
    breaker: seeing(inPhase("QUIESCE", (world) => mapSource(world, (observation) => ({ ...observation, awaitsRefresh: false })))),
  },
  {
    name: "paused-too-soon",
    about: "a source is paused, and its right to write is taken, while a sync is under way",
    ...{ property: "whole", scenario: "moves" },
    breaker: seeing(
      inPhase("QUIESCE", (world) =>
        mapSource(world, (observation) => ({ ...observation, sync: { ...observation.sync, operation: undefined, state: undefined } })),
      ),
    ),
  },
  {
    name: "failure-copied",
    about: "copies get the status of a sync of their source although it failed or was ended",
    ...{ property: "whole", scenario: "move-chaos" },
    breaker: writing(withFailure),
  },
  {
    name: "orphans-unseen",
    about: "copies that are created after their move was given up are never found",
    ...{ property: "settled", scenario: "move-stale-workers", seed: 81 },
    breaker: withPorts(({ engines }) => ({
      engines: withApplications(engines, ({ list }) => ({
        list: (namespace) => list(namespace).filter(({ annotations }) => annotations[ANNOTATION_ARRIVING] === undefined),
      })),
    })),
  },
  {
    name: "granted-unproven",
    about:
      "the target gets the right to write as soon as the owner binding names nobody, although API servers have not refused the old owner",
    ...{ property: "I1", scenario: "move-frozen-server" },
    breaker: seeing(inPhase("REVOKE", (world) => ({ ...world, isRefusalProven: true }))),
  },
  {
    name: "time-for-a-fence",
    about: "after twenty seconds the old owner counts as refused, whatever API servers answer",
    ...{ property: "I1", scenario: "move-frozen-server", seed: 3 },
    breaker: seeing(
      inPhase("REVOKE", (world, move) => ({ ...world, isRefusalProven: world.isRefusalProven || world.now - move.phaseSince > 20_000 })),
    ),
  },
  {
    name: "away-for-dead",
    about: "a source that cannot be reached counts as one that does nothing: the target gets the right to write at once",
    ...{ property: "I1", scenario: "move-fail-over" },
    breaker: seeing(inPhase("REVOKE", (world, move) => ({ ...world, isRefusalProven: world.isRefusalProven || move.isFailOver }))),
  },
  {
    name: "first-answer-kept",
    about: "API servers are asked over one connection, so for ten seconds the first answer counts for all of them",
    ...{ property: "I1", scenario: "move-frozen-server", seed: 402 },
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
    about: "a copy that somebody deleted with a cascade is activated all the same",
    ...{ property: "I2", scenario: "move-chaos" },
    breaker: seeing((world) => mapTarget(world, (observation) => ({ ...observation, isDeleting: false }))),
  },
  {
    name: "tests-dropped",
    about: "patches test neither the version nor the epoch of the object that they change",
    ...{ property: "I7", scenario: "move-stale-workers", seed: 3 },
    breaker: writing(({ side, write }) => ({
      side,
      write: write.kind === "change" ? { ...write, patch: write.patch.filter(({ op }) => op !== "test") } : write,
    })),
  },
  {
    name: "preconditions-dropped",
    about: "deletions have no preconditions: they delete whatever has the name",
    ...{ property: "I2", scenario: "move-stale-workers" },
    breaker: ofObservations(({ delete: remove }) => ({
      delete: (at, _preconditions, signal) => remove(at, {} as typeof _preconditions, signal),
    })),
  },
  {
    name: "moves-by-events",
    about: "only the database's notifications carry a move on: nobody reads again which moves are live",
    ...{ property: "I4", scenario: "move-crashes" },
    breaker: withPorts(({ store }) => {
      const listLive: typeof store.moves.listLive = async (filter, signal) =>
        (await store.moves.listLive(filter, signal)).filter(({ phase }) => phase === "WAITING");
      return { store: { ...store, moves: { ...store.moves, listLive } } };
    }),
  },
  {
    name: "owner-remembered",
    about: "Applications are created on the unit's first owner, whoever owns it since",
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
