import type { Millis } from "../../domain/clock.ts";
import type { Instance } from "../../domain/instance.ts";
import { instanceIdOf, nextInstanceNames } from "../../domain/instance-name.ts";
import { type LoadVector, loadVector } from "../../domain/load.ts";
import { mapInTurns, type Resumable } from "../../domain/resumable.ts";
import type { Supposition } from "../../domain/what-if.ts";
import type { PlanningFacts, PlanningUnit } from "./assemble.ts";
import { sharesInTurns } from "./shares-of.ts";

interface Refused {
  readonly kind: "refused";
  readonly message: string;
  readonly remedy: string;
}

type One = { readonly kind: "facts"; readonly facts: PlanningFacts } | Refused;

export interface SupposedWhen {
  readonly at: Millis;
  readonly names: ReadonlySet<string>;
}

/** The rows, or which of the suppositions cannot be made, and what to do instead. */
export type Supposed = { readonly kind: "facts"; readonly facts: PlanningFacts } | (Refused & { readonly index: number });

/**
 * The rows of a class as they would be if all of this were so, in the end: what holds moves up for a while (freezes, moves under way or made a
 * moment ago, failures) does not count. Pins, holds and health do. Refuses a pool or workspace
 * that the class does not have, and more instances fewer than there are. `names`: those of all instances there ever were; more instances get the next ones, as
 * they would by the declaration, and so the ids and the places on the ring that they would have.
 */
export function* supposeInTurns(
  facts: PlanningFacts,
  suppositions: readonly Supposition[],
  { at, names }: SupposedWhen,
): Resumable<Supposed> {
  let now: PlanningFacts = {
    ...facts,
    ...{ freezes: [], moves: [], failures: [], rebalancing: undefined },
    units: yield* mapInTurns(facts.units, arrived),
  };
  for (const [index, each] of suppositions.entries()) {
    const next: One = yield* supposeOne(now, each, { at, names });
    if (next.kind === "refused") return { ...next, index };
    now = next.facts;
  }
  return { kind: "facts", facts: now };
}

/** What is on its way is there. */
function arrived(row: PlanningUnit): PlanningUnit {
  const { unit, movingTo } = row;
  return { ...row, unit: { ...unit, owner: movingTo ?? unit.owner }, movingTo: undefined, movedAt: undefined };
}

function* supposeOne(facts: PlanningFacts, wanted: Supposition, when: SupposedWhen): Resumable<One> {
  if (wanted.kind === "load") return yield* withLoad(facts, wanted);
  const own = facts.instances.filter(({ pool, state }) => pool === wanted.pool && (state === "ACTIVE" || state === "CORDONED"));
  if (own.length === 0) {
    const pools = [...new Set(facts.instances.map(({ pool }) => pool))].toSorted();
    const remedy = pools.length === 0 ? "Declare one in fleet.yaml" : `Name one of ${pools.join(", ")}`;
    return refused(`pool ${wanted.pool} has no instance that serves class ${facts.class}`, remedy);
  }
  if (wanted.kind === "instances") return wanted.by > 0 ? withMore(facts, own, wanted.by, when) : yield* withFewer(facts, own, -wanted.by);
  const { version } = wanted;
  const instances = facts.instances.map((one) => (own.includes(one) ? { ...one, version, desiredVersion: version } : one));
  return { kind: "facts", facts: { ...facts, instances } };
}

function withMore(facts: PlanningFacts, [like]: readonly Instance[], by: number, { at, names }: SupposedWhen): One {
  if (like === undefined) return { kind: "facts", facts };
  const taken = new Set([...names, ...facts.instances.map(({ name }) => name)]);
  const more = nextInstanceNames(like.pool, taken, by).map(
    (name): Instance => ({ ...like, id: instanceIdOf(name), name, state: "ACTIVE", stateSince: at, halt: "none", cause: undefined }),
  );
  return { kind: "facts", facts: { ...facts, instances: [...facts.instances, ...more] } };
}

/** The emptiest go, as somebody who has to give some up would choose. */
function* withFewer(facts: PlanningFacts, own: readonly Instance[], by: number): Resumable<One> {
  if (own.length < by) return refused(`pool ${own[0]?.pool} has ${own.length} instances`, `Suppose at most ${own.length} fewer`);
  const shares = yield* sharesInTurns(own, facts.units, ({ unit }) => unit.owner);
  const shareOf = ({ id }: Instance): number => shares.get(id)?.share ?? 0;
  const gone = own.toSorted((a, b) => shareOf(a) - shareOf(b) || (a.id < b.id ? -1 : 1)).slice(0, by);
  return { kind: "facts", facts: { ...facts, instances: facts.instances.filter((one) => !gone.includes(one)) } };
}

function* withLoad(
  facts: PlanningFacts,
  { workspace, times }: { readonly workspace: string | undefined; readonly times: number },
): Resumable<One> {
  if (workspace !== undefined && facts.units.every(({ namespace }) => namespace !== workspace))
    return refused(`class ${facts.class} has no workspace ${workspace}`, "Name one that has a deployment: `argosy get workspaces`");
  const grown = (load: LoadVector): LoadVector => loadVector((dimension) => Math.ceil(load[dimension] * times));
  const units = yield* mapInTurns(facts.units, (row) =>
    workspace !== undefined && row.namespace !== workspace
      ? row
      : {
          ...row,
          unit: { ...row.unit, load: grown(row.unit.load) },
          known: row.known && { ...row.known, recent: grown(row.known.recent) },
        },
  );
  return { kind: "facts", facts: { ...facts, units } };
}

function refused(message: string, remedy: string): One {
  return { kind: "refused", message, remedy };
}
