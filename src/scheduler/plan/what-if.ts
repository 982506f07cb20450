import { type Millis, millis } from "../../domain/clock.ts";
import { countText } from "../../domain/count-text.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { byInstanceName } from "../../domain/instance-name.ts";
import { complete, filterInTurns, mapInTurns, type Resumable, visitInTurns } from "../../domain/resumable.ts";
import type { ServedByRelease, SupposedInstance, Supposition, WhatIf } from "../../domain/what-if.ts";
import { percent } from "../percent.ts";
import { WHOLE } from "../policy.ts";
import type { RingSource } from "../ring-memo.ts";
import { assembleSnapshotInTurns, type PlanningFacts, type PlanningUnit } from "./assemble.ts";
import { section } from "./describe-plan.ts";
import { namesOfUnits, UNHURRIED } from "./make-plan.ts";
import { type Plan, planMovesInTurns } from "./plan-moves.ts";
import { sharesInTurns } from "./shares-of.ts";
import { type Supposed, type SupposedWhen, supposeInTurns } from "./suppose.ts";

interface SupposedWith extends SupposedWhen {
  readonly ringOf: RingSource;
}

type WhatIfAnswer = { readonly kind: "answer"; readonly answer: WhatIf } | Extract<Supposed, { readonly kind: "refused" }>;

/**
 * What would become of a class if all of this were so, by the planner itself, once everything has moved that should, however long budgets would take for that. It
 * goes by the last known loads, fresh or not. `refused`: it cannot be supposed.
 */
export function whatIf(facts: PlanningFacts, suppositions: readonly Supposition[], when: SupposedWith): WhatIfAnswer {
  return complete(whatIfInTurns(facts, suppositions, when));
}

/** The same, with pauses. */
export function* whatIfInTurns(
  facts: PlanningFacts,
  suppositions: readonly Supposition[],
  { ringOf, ...when }: SupposedWith,
): Resumable<WhatIfAnswer> {
  const rows = yield* supposeInTurns(facts, suppositions, when);
  if (rows.kind === "refused") return rows;
  const { facts: supposed } = rows;
  const { plan, units } = yield* inTheEnd(supposed, { at: when.at, ringOf });
  const owners = new Map<UnitId, InstanceId | undefined>();
  yield* visitInTurns(units, ({ unit }) => owners.set(unit.id, unit.owner));
  const ownerAfter = ({ unit }: PlanningUnit): InstanceId | undefined => owners.get(unit.id);
  const moved = yield* filterInTurns(supposed.units, (row) => row.unit.owner !== undefined && ownerAfter(row) !== row.unit.owner);
  const instances = yield* instancesOf(facts, supposed, ownerAfter);
  const result = {
    class: facts.class,
    dimension: plan.report.dimension,
    instances,
    releases: yield* releasesOf(facts, supposed, { ownerAfter, dimension: plan.report.dimension }),
    moves: moved.length,
    workspaces: { moved: new Set(moved.map(({ unit }) => unit.workspaceId)).size, of: plan.report.workspaces.of },
    unplaceable: yield* unplaceable(plan, supposed),
    tooFull: tooFull(plan, supposed),
  };
  return { kind: "answer", answer: { ...result, text: textOf(result, suppositions, plan) } };
}

/** More plans than it took in any trial until one moved nothing. */
const PLANS = 20;

/**
 * Plans again on what the plan before would have made, until a plan moves nothing, and gives that plan and where the units then are. The first plan goes by how long
 * instances have been too full so far; for the others, whatever is too full has been so for long.
 */
function* inTheEnd(supposed: PlanningFacts, { at, ringOf }: { readonly at: Millis; readonly ringOf: RingSource }) {
  const state = { aboveSince: Object.fromEntries(supposed.instances.map(({ id }) => [id, millis(0)])), overloadedSince: {} };
  let facts = supposed;
  for (let count = 1; ; count += 1) {
    const snapshot = { ...(yield* assembleSnapshotInTurns(facts, at)), metrics: { kind: "trusted" } } as const;
    const plan: Plan = yield* planMovesInTurns(snapshot, { policy: UNHURRIED, ringOf });
    if ((plan.moves.length === 0 && count > 1) || count === PLANS) return { plan, units: facts.units };
    const target = new Map(plan.moves.map(({ unit, to }) => [unit, to]));
    const units: readonly PlanningUnit[] = yield* mapInTurns(facts.units, (row) => {
      const to = target.get(row.unit.id);
      return to === undefined ? row : { ...row, unit: { ...row.unit, owner: to } };
    });
    facts = { ...facts, units, state };
  }
}

function* instancesOf(
  facts: PlanningFacts,
  supposed: PlanningFacts,
  ownerAfter: (row: PlanningUnit) => InstanceId | undefined,
): Resumable<readonly SupposedInstance[]> {
  const before = yield* sharesInTurns(facts.instances, facts.units, ({ unit }) => unit.owner);
  const after = yield* sharesInTurns(supposed.instances, supposed.units, ownerAfter);
  const all = new Map<InstanceId, Instance>([...facts.instances, ...supposed.instances].map((one) => [one.id, one]));
  return [...all.values()]
    .map(({ id, name, pool, version }) => ({ name, pool, version, before: before.get(id), after: after.get(id) }))
    .toSorted(byInstanceName);
}

function* releasesOf(
  facts: PlanningFacts,
  supposed: PlanningFacts,
  {
    ownerAfter,
    dimension,
  }: { readonly ownerAfter: (row: PlanningUnit) => InstanceId | undefined; readonly dimension: WhatIf["dimension"] },
): Resumable<readonly ServedByRelease[]> {
  const versions = (rows: PlanningFacts) => new Map(rows.instances.map(({ id, version }) => [id, version]));
  const [was, is] = [versions(facts), versions(supposed)];
  const on = (of: ReadonlyMap<InstanceId, string>, owner: InstanceId | undefined): string | undefined =>
    owner === undefined ? undefined : of.get(owner);
  const served = new Map([...was.values(), ...is.values()].map((version) => [version, { before: 0, after: 0, load: 0 }]));
  let total = 0;
  yield* visitInTurns(facts.units, ({ unit }) => {
    const own = served.get(on(was, unit.owner) ?? "");
    if (own !== undefined) own.before += 1;
  });
  yield* visitInTurns(supposed.units, (row) => {
    const load = row.unit.load[dimension];
    total += load;
    const own = served.get(on(is, ownerAfter(row)) ?? "");
    if (own === undefined) return;
    own.after += 1;
    own.load += load;
  });
  return [...served]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([version, { before, after, load }]) => ({
      version,
      unitsBefore: before,
      unitsAfter: after,
      loadAfter: total === 0 ? 0 : Math.round((load * WHOLE) / total),
    }));
}

function* unplaceable({ report }: Plan, { units }: PlanningFacts): Resumable<readonly string[]> {
  const named = new Set<UnitId>(report.unplaceable.flatMap((record) => record.units));
  const names = namesOfUnits(yield* filterInTurns(units, ({ unit }) => named.has(unit.id)));
  return report.unplaceable.flatMap((record) => record.units.map((unit) => names.get(unit) ?? unit)).toSorted();
}

function tooFull({ report }: Plan, { instances }: PlanningFacts): readonly string[] {
  const names = new Map<string, string>(instances.map(({ id, name }) => [id, name]));
  return report.needsCapacity.map((id) => names.get(id) ?? id).toSorted();
}

function textOf(result: Omit<WhatIf, "text">, suppositions: readonly Supposition[], { report }: Plan): readonly string[] {
  const { instances, releases, workspaces, moves } = result;
  const used = instances.flatMap(({ name, after }) => (after === undefined ? [] : [{ name, ...after }]));
  const fullest = used.toSorted((a, b) => b.share - a.share)[0];
  return [
    `if ${suppositions.map(suppositionText).join(" and ")}, class ${result.class} would in the end be so:`,
    `  ${countText(moves, "move")} of ${workspaces.moved} of ${workspaces.of} workspaces`,
    `  mean use ${percent(report.mean)} in ${report.dimension}; too full above ${percent(report.bound)}`,
    ...(fullest === undefined ? [] : [`  fullest: ${fullest.name} at ${percent(fullest.share)}`]),
    ...section("instances", instances.map(instanceText)),
    ...(releases.length < 2 ? [] : section("releases", releases.map(releaseText))),
    ...section("no instance can take", result.unplaceable),
    ...section(
      "needs more capacity",
      result.tooFull.map((name) => `${name} stays too full`),
    ),
  ];
}

function suppositionText(supposition: Supposition): string {
  switch (supposition.kind) {
    case "instances": {
      const { pool, by } = supposition;
      return `pool ${pool} had ${countText(Math.abs(by), "instance")} ${by > 0 ? "more" : "fewer"}`;
    }
    case "load":
      return `${supposition.workspace ?? "every workspace"} took ${supposition.times} times what it takes`;
    case "release":
      return `the instances of pool ${supposition.pool} ran ${supposition.version}`;
  }
}

function instanceText({ name, before, after }: SupposedInstance): string {
  const was = before === undefined ? "not there" : `${percent(before.share)} with ${countText(before.units, "unit")}`;
  const is = after === undefined ? "gone" : `${percent(after.share)} with ${countText(after.units, "unit")}`;
  return `${name}: ${was === is ? `stays at ${is}` : `${was} → ${is}`}`;
}

function releaseText({ version, unitsBefore, unitsAfter, loadAfter }: ServedByRelease): string {
  return `${version}: ${unitsBefore} → ${countText(unitsAfter, "unit")}, ${percent(loadAfter)} of the load`;
}
