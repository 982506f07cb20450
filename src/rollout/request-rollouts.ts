import type { Clock } from "../domain/clock.ts";
import { GoneError, InputError, RefusedError } from "../domain/errors.ts";
import type { Ids, RolloutId } from "../domain/ids.ts";
import type { Rollout, RolloutOrder } from "../domain/rollout.ts";
import type { Store } from "../store/port.ts";
import { orderDecision, unfreezeDecision } from "./decisions.ts";
import { type DraftedRollout, type DraftFacts, draftRollout } from "./draft-rollout.ts";
import { type RolloutCommand, whatIsOrdered } from "./rollout-commands.ts";

export interface RolloutRequestsDeps {
  readonly store: Pick<Store, "rollouts" | "fleet" | "placements">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What people can ask of rollouts. */
export interface RolloutRequests {
  /** Returns what a rollout would do. Throws `InputError` with what speaks against the release. */
  draft(order: RolloutOrder, signal: AbortSignal): Promise<DraftedRollout>;
  /**
   * Begins a rollout. Throws `InputError` like `draft`, and `RefusedError` while another one is live or when there is
   * nothing to upgrade.
   */
  create(order: RolloutOrder, signal: AbortSignal): Promise<Rollout>;
  /** Throws `GoneError` for an unknown rollout, `RefusedError` where its state does not allow the command. */
  command(
    id: RolloutId,
    order: { readonly command: RolloutCommand; readonly actor: string; readonly reason: string },
    signal: AbortSignal,
  ): Promise<Rollout>;
  /** Allows a frozen release to be tried again. Throws `GoneError` when it is not frozen. */
  unfreeze(version: string, actor: string, signal: AbortSignal): Promise<void>;
}

export function createRolloutRequests({ store, clock, ids }: RolloutRequestsDeps): RolloutRequests {
  const { rollouts, fleet, placements } = store;
  const readFacts = async (signal: AbortSignal): Promise<DraftFacts> => {
    const spec = (await fleet.readFleet(signal))?.spec;
    const instances = await fleet.listInstances(signal);
    const frozen = await rollouts.listFrozen(signal);
    const classes = [...new Set(instances.filter(({ state }) => state !== "RETIRED").map((one) => one.class))];
    const held = [];
    for (const name of classes) held.push(...(await placements.readFleet(name, signal)).instances);
    return {
      spec,
      instances,
      frozen,
      held: new Map(held.map(({ instance, load, units }) => [instance.id, { load, units }])),
    };
  };
  const draft: RolloutRequests["draft"] = async (order, signal) => {
    const drafted = draftRollout(await readFacts(signal), order, { id: ids.next(), now: clock.now() });
    if (drafted.kind === "drafted") return drafted;
    throw new InputError(drafted.message, { code: "rollout.version", path: drafted.path, remedy: drafted.remedy });
  };
  return {
    draft,
    async create(order, signal) {
      const { rollout, refused } = await draft(order, signal);
      if (rollout.waves.length === 0) {
        const why = refused.map(({ instance, reason }) => `; ${instance}: ${reason}`).join("");
        throw new RefusedError(`there is no instance that ${order.version} could be given${why}`, { code: "rollout.nothing" });
      }
      const decision = orderDecision(rollout, { verdict: "CREATED", ...order }, clock.now());
      const live = await rollouts.create(rollout, decision, signal);
      if (live === undefined) return rollout;
      const how = `rollout ${live.id} of ${live.version} is ${live.state}: let it end, or abort it with \`argosy rollout abort ${live.id}\``;
      throw new RefusedError(how, { code: "rollout.live", context: { rollout: live.id } });
    },
    async command(id, { command, actor, reason }, signal) {
      const rollout = await rollouts.read(id, signal);
      if (rollout === undefined)
        throw new GoneError(`there is no rollout ${id}; \`argosy rollout list\` lists them`, {
          code: "rollout.unknown",
          context: { rollout: id },
        });
      const next = whatIsOrdered(rollout, command, { actor, reason });
      if (typeof next === "string") throw new RefusedError(`rollout ${id} ${next}`, { code: "rollout.state", context: { rollout: id } });
      return rollouts.change(
        { rollout: next.rollout, decision: orderDecision(next.rollout, { ...next, actor, reason }, clock.now()) },
        signal,
      );
    },
    async unfreeze(version, actor, signal) {
      if (await rollouts.unfreeze(version, unfreezeDecision(version, actor, clock.now()), signal)) return;
      throw new GoneError(`${version} is not frozen; \`argosy versions\` lists those that are`, {
        code: "rollout.not-frozen",
        context: { version },
      });
    },
  };
}
