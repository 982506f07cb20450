import type { MoveId } from "../../domain/ids.ts";
import { type Bug, withPorts } from "./bug.ts";

/** Fail-overs from a target that a move has just reached which go wrong. */
export const REDIRECT_BUGS: readonly Bug[] = [
  {
    name: "arrival-for-harmless",
    about: "an owner to which a move had just brought the unit, and that nobody reaches, counts as one that was never let in",
    ...{ property: "I1", scenario: "move-redirect", seed: 3 },
    breaker: withPorts(({ store, decide }) => {
      const onward = new Set<MoveId>();
      const readRows: typeof store.moves.readRows = async (id, signal) => {
        const rows = await store.moves.readRows(id, signal);
        const before = rows === undefined ? [] : await store.moves.list({ unitId: rows.move.unitId }, 100, signal);
        if (before.some(({ phase, toEpoch }) => phase === "REDIRECTED" && toEpoch === rows?.move.fromEpoch)) onward.add(id);
        return rows;
      };
      return {
        store: { ...store, moves: { ...store.moves, readRows } },
        decide(move, world) {
          const isRefusalProven = world.isRefusalProven || (move.phase === "REVOKE" && onward.has(move.id));
          return decide(move, { ...world, isRefusalProven });
        },
      };
    }),
  },
  {
    name: "redirect-forgets-source",
    about: "what a move that was redirected had not taken from its source is looked for by nobody",
    ...{ property: "settled", scenario: "move-redirect" },
    breaker: withPorts(({ engines, store }) => {
      const ended = new Set<number>();
      const listOwned: typeof store.shards.listOwned = async (instance, signal) => {
        for (const { phase, toEpoch } of await store.moves.list({ instanceId: instance }, 1_000, signal))
          if (phase === "REDIRECTED") ended.add(toEpoch);
        return store.shards.listOwned(instance, signal);
      };
      return {
        store: { ...store, shards: { ...store.shards, listOwned } },
        engines: {
          async get(cluster) {
            const engine = await engines.get(cluster);
            if (engine === undefined) return undefined;
            const list: typeof engine.applications.list = (namespace) =>
              engine.applications.list(namespace).filter(({ epoch }) => epoch === undefined || !ended.has(epoch));
            return { ...engine, applications: { ...engine.applications, list } };
          },
        },
      };
    }),
  },
];
