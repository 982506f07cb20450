import type { MoveId } from "../../domain/ids.ts";
import { type Bug, withApplications, withPorts } from "./bug.ts";

/** Fail-overs that go wrong, away from an instance that has just become the owner by a move. */
export const REDIRECT_BUGS: readonly Bug[] = [
  {
    name: "arrival-for-harmless",
    about: "an owner that a move has just made the owner, and that cannot be reached, counts as one that never had the right to write",
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
    about: "Applications that a redirected move had not removed from its source are never found",
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
        engines: withApplications(engines, ({ list }) => ({
          list: (namespace) => list(namespace).filter(({ epoch }) => epoch === undefined || !ended.has(epoch)),
        })),
      };
    }),
  },
];
