import type { Change } from "../../domain/change.ts";
import type { MoveId, UnitId } from "../../domain/ids.ts";
import type { Move } from "../../domain/move.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { PART_RULES, type PartRules } from "../../store/adapters/memory/part-rules.ts";
import type { ChangeFeed, Store } from "../../store/port.ts";
import { type Network, type PushStream, unreachable } from "../world/network.ts";
import type { Party } from "../world/party.ts";
import type { World } from "../world/world.ts";

export const DATABASE = "database";

/** One database for all, and how each process reaches it. */
export interface SimulatedDatabase {
  /** The rows themselves, for setting up the fleet and for photographs. */
  readonly rows: MemoryStore;
  /** The store as this process has it: over the network, with its own subscription to notifications. */
  connect(party: Party): Store;
  /** The server is being replaced: until it is back, every statement fails and notifications are lost. */
  setAway(isAway: boolean): void;
}

/** How late notifications arrive at most, in ms. */
const NOTIFICATION_LAG_MS = 20;
const never = new AbortController().signal;
const unanswered = unreachable("reaching the database", "store.unavailable");

export function createSimulatedDatabase(world: World, network: Network, rules: PartRules = PART_RULES): SimulatedDatabase {
  const memory = createMemoryStore({
    clock: { now: world.now, monotonicMs: world.elapsedMs, after: (ms, run) => world.schedule(ms, DATABASE, run) },
    rules,
  });
  const rows: MemoryStore = { ...memory, moves: recordMoves(world, memory), splits: recordParts(world, memory) };
  const connect = (party: Party): Store => {
    const link = { party, network };
    const parts = Object.entries(rows).map(([name, part]: [string, unknown]) => {
      if (name === "changes") return [name, connectFeed(link, rows.changes)];
      return [name, typeof part === "object" && part !== null ? overNetwork(part, { ...link, name, world, rows }) : part];
    });
    const ping: Store["ping"] = (signal) =>
      link.network.call(
        callOf(link, "store.ping", () => rows.ping(never)),
        signal,
      );
    return { ...(Object.fromEntries(parts) as unknown as Store), ping, close: async () => undefined };
  };
  return { rows, connect, setAway: rows.setAway };
}

interface Link {
  readonly party: Party;
  readonly network: Network;
}

function callOf<T>({ party }: Link, name: string, effect: () => T | Promise<T>) {
  return { from: party, to: DATABASE, name, effect, broken: unanswered };
}

/** Each method is one transaction, which happens at one moment between the arrivals of the request and of the answer. */
function overNetwork<T extends object>(part: T, link: Link & { readonly name: string; readonly world: World; readonly rows: Store }): T {
  return new Proxy(part, {
    get(target, method) {
      const member: unknown = Reflect.get(target, method);
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]): Promise<unknown> => {
        const signal = args.at(-1);
        if (!(signal instanceof AbortSignal)) return Reflect.apply(member, target, args) as Promise<unknown>;
        const statement = `store.${link.name}.${String(method)}`;
        // Nothing cancels a transaction that is under way: the caller may leave, the effect stays.
        const effect = async (): Promise<unknown> => {
          link.world.record({ kind: "call", by: link.party.name, name: statement, isWrite: method === "acknowledge" });
          const outcome: unknown = await (Reflect.apply(member, target, [...args.slice(0, -1), never]) as Promise<unknown>);
          if (method === "commitFirstPlacement") await recordPlacement(link, args[0], outcome);
          return outcome;
        };
        return link.network.call(callOf(link, statement, effect), signal);
      };
    },
  });
}

interface Recorded {
  readonly world: World;
  readonly rows: Pick<Store, "placements" | "moves">;
}

async function recordPlacement(recorded: Recorded, asked: unknown, outcome: unknown): Promise<void> {
  const { unitId } = asked as Parameters<Store["placements"]["commitFirstPlacement"]>[0];
  if ((outcome as { readonly kind: string }).kind === "placed") await recordOwner(recorded, unitId);
}

async function recordOwner({ world, rows }: Recorded, id: UnitId): Promise<void> {
  const found = await rows.placements.readUnit(id, never);
  if (found === undefined) return;
  const { unit, workspace } = found;
  world.record({ kind: "placed", unit: unit.id, instance: unit.owner ?? "", epoch: unit.epoch, namespace: workspace.namespace });
}

/** Records each new phase of a move, and each new owner, whoever caused it. */
function recordMoves(world: World, memory: MemoryStore): Store["moves"] {
  const { moves } = memory;
  const recorded = { world, rows: memory };
  const follow = async (id: MoveId, before: Move | undefined): Promise<void> => {
    const now = await moves.read(id, never);
    if (now === undefined || now.phase === before?.phase) return;
    const { unitId: unit, from, to, phase, toEpoch: epoch, isFailOver } = now;
    world.record({ kind: "move", ...{ id, unit, from, to, phase, epoch, isFailOver } });
    if (phase === "GRANT" || phase === "ABORT") await recordOwner(recorded, now.unitId);
  };
  const followed =
    <Rest extends readonly unknown[], Result>(change: (id: MoveId, ...rest: Rest) => Promise<Result>) =>
    async (id: MoveId, ...rest: Rest): Promise<Result> => {
      const before = await moves.read(id, never);
      const result = await change(id, ...rest);
      await follow(id, before);
      return result;
    };
  return {
    ...moves,
    async request(request, signal) {
      const others = await moves.list({ unitId: request.unitId, isLive: true }, 1, signal);
      const outcome = await moves.request(request, signal);
      for (const other of others) await follow(other.id, other);
      await follow(request.id, undefined);
      return outcome;
    },
    begin: followed(moves.begin),
    advance: followed(moves.advance),
    commit: followed(moves.commit),
    abort: followed(moves.abort),
  };
}

/** Records the owners of units that are cut or take others over, and whose each application is then. */
function recordParts(world: World, memory: MemoryStore): Store["splits"] {
  const { splits, shards, placements } = memory;
  const record = async (unitId: UnitId): Promise<void> => {
    const unit = (await placements.readUnit(unitId, never))?.unit;
    if (unit?.owner === undefined) return;
    await recordOwner({ world, rows: memory }, unitId);
    const held = await shards.listApplications(unit.owner, never);
    const rows = await shards.readApplications(
      held.map(({ applicationId }) => applicationId),
      never,
    );
    for (const { application } of rows)
      if (application.unitId === unitId) world.record({ kind: "passed", application: application.argoName, unit: unitId });
  };
  return {
    ...splits,
    async cut(cut, signal) {
      const isDone = await splits.cut(cut, signal);
      if (isDone) world.record({ kind: "parts", act: "CUT", unit: cut.unitId });
      if (isDone) await record(cut.staying.id);
      return isDone;
    },
    async takeOver(unitId, decision, signal) {
      const into = (await placements.readUnit(unitId, signal))?.unit.joins;
      const isDone = await splits.takeOver(unitId, decision, signal);
      if (isDone && into !== undefined) {
        world.record({ kind: "parts", act: "TAKEN OVER", unit: unitId });
        await record(into);
      }
      return isDone;
    },
  };
}

/**
 * Notifications come late and in order, over one connection for all listeners of a process. After the connection was cut, the listeners
 * get `missed` with the first one that arrives.
 */
function connectFeed({ party, network }: Link, changes: ChangeFeed): ChangeFeed {
  const listeners = new Set<Listener>();
  let hasMissed = false;
  let isConnected = false;
  const stream: PushStream = {
    ...{ from: DATABASE, to: party, what: "notifications", lagMs: NOTIFICATION_LAG_MS, lastAt: 0 },
    onCut() {
      hasMissed = true;
    },
  };
  const deliver = (notifications: readonly Change[] | "missed"): void => {
    const heard = hasMissed ? "missed" : notifications;
    hasMissed = false;
    for (const listener of [...listeners]) listener(heard);
  };
  const connect = (): void => {
    isConnected = true;
    party.onEnd(changes.subscribe((notifications) => network.push(stream, () => deliver(notifications))));
  };
  return {
    subscribe(listener) {
      const own: Listener = (notifications) => listener(notifications);
      listeners.add(own);
      if (isConnected) network.push(stream, () => (listeners.has(own) ? own("missed") : undefined));
      else connect();
      return () => void listeners.delete(own);
    },
    isConnected: changes.isConnected,
    hears: async () => changes.isConnected(),
  };
}

type Listener = (notifications: readonly Change[] | "missed") => void;
