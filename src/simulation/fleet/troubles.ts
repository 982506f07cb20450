import type { Rng } from "../../domain/rng.ts";
import { nameOf } from "../../runtime/kube/testing/object-rules.ts";
import { NAMESPACE_TYPE } from "../models/kubernetes/server.ts";
import { DATABASE } from "../models/store.ts";
import type { Scenario, ScenarioTrouble } from "../scenarios/schema.ts";
import { FAR_CLUSTER } from "./declared.ts";
import { createFarOwners } from "./far-owner.ts";
import type { Fleet } from "./fleet.ts";
import { addCascadeFinalizer, deleteNextCopy } from "./hands.ts";

/** How soon after a move has changed the owner its target is lost, in ms, at most. */
const SOON_MS = 2_000;

/** Schedules everything that goes wrong in a scenario, at times that are drawn from the world's randomness. */
export function planTroubles(fleet: Fleet, { troubles, activeSeconds }: Pick<Scenario, "troubles" | "activeSeconds">): void {
  const { world } = fleet;
  const rng = world.rng.fork("troubles");
  const onFarOwner = createFarOwners(fleet);
  for (const trouble of troubles)
    for (let time = 0; time < trouble.times; time += 1)
      world.schedule(rng.next() * activeSeconds * 1_000, `trouble ${trouble.kind}`, () => strike({ ...fleet, onFarOwner }, trouble, rng));
}

type Struck = Fleet & { readonly onFarOwner: ReturnType<typeof createFarOwners> };

function strike(fleet: Struck, trouble: ScenarioTrouble, rng: Rng): void {
  const { world, network, onFarOwner } = fleet;
  const own = fleet.names.filter((name) => name.startsWith("argosy-") === (trouble.who === "argosy"));
  const name = own[Math.floor(rng.next() * own.length)] ?? "";
  const ms = rng.next() * trouble.longestSeconds * 1_000;
  const tell = (what: string): void => world.record({ kind: "chaos", trouble: trouble.kind, what });
  const later = (what: string, run: () => void): void => void world.schedule(ms, what, run);
  const forMs = `for ${Math.round(ms)} ms`;
  switch (trouble.kind) {
    case "crash":
      // One that is down already cannot die.
      if (!fleet.party(name).isAlive()) return;
      tell(`${name} dies ${forMs}`);
      return fleet.crash(name, ms);
    case "freeze":
      tell(`${name} hangs ${forMs}`);
      return fleet.party(name).freeze(ms);
    case "part":
      tell(`${name} is parted from ${trouble.from} ${forMs}`);
      network.part(name, trouble.from);
      return later("a partition heals", () => network.heal(name, trouble.from));
    case "cut-off":
      return cutOff(fleet, ms, tell);
    case "lose-target":
      return onFarOwner(() => {
        world.schedule(rng.next() * SOON_MS, "the far cluster goes", () => cutOff(fleet, ms, tell));
      });
    case "database-away":
      tell(`${DATABASE} is away ${forMs}`);
      fleet.database.setAway(true);
      return later("the database is back", () => fleet.database.setAway(false));
    case "end-watches":
      tell("all watches end");
      return [fleet.api, ...fleet.engines].forEach((server) => server.endWatches());
    case "freeze-server": {
      const server = Math.floor(rng.next() * 3);
      tell(`API server ${server} of the users' cluster stands still ${forMs}`);
      return fleet.authority.freeze(server, ms);
    }
    case "quota": {
      const namespaces = fleet.api.objects
        .list(NAMESPACE_TYPE, "")
        .map(nameOf)
        .filter((each) => each.startsWith("team-"));
      const namespace = namespaces[Math.floor(rng.next() * namespaces.length)] ?? "";
      tell(`the quota of ${namespace} is used up ${forMs}`);
      return fleet.authority.useUp(namespace, ms);
    }
    case "hand-finalizer":
      return addCascadeFinalizer(fleet, rng);
    case "hand-delete":
      return deleteNextCopy(fleet, rng);
    case "compact":
      tell("servers forget the past");
      for (const server of [fleet.api, ...fleet.engines]) {
        server.compact();
        server.endWatches();
      }
  }
}

function cutOff({ world, network, names }: Fleet, ms: number, tell: (what: string) => void): void {
  const processes = names.filter((each) => each.startsWith("argosy-"));
  tell(`Argosy is parted from ${FAR_CLUSTER} for ${Math.round(ms)} ms`);
  for (const each of processes) network.part(each, FAR_CLUSTER);
  world.schedule(ms, "the far cluster is back", () => processes.forEach((each) => void network.heal(each, FAR_CLUSTER)));
}
