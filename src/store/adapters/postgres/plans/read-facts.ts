import type { Millis } from "../../../../domain/clock.ts";
import { type PoolSpec, type RebalancingSpec, raisablePools, scaledPools } from "../../../../domain/fleet.ts";
import type { InstanceId, UnitId } from "../../../../domain/ids.ts";
import type { MoveReason } from "../../../../domain/plan.ts";
import { freezeOfRollout } from "../../../../domain/rollout.ts";
import type { DoneMove, FailedMove, PlanFacts, UnitFacts } from "../../../plan/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { type DirectiveRow, directiveOf, FREEZES, type FreezeRow, freezeOf } from "../directives.ts";
import { INSTANCE, type InstanceRow, instanceOf } from "../fleet/instance-row.ts";
import {
  INSTANCE_LOADS,
  type InstanceLoadRow,
  instanceLoadOf,
  JOIN_KNOWN,
  KNOWN,
  type KnownRow,
  knownOf,
  READ_CLASS_LOAD,
  stateOf,
} from "../loads/load-row.ts";
import { LIVE_ROLLOUT, type RolloutRow, rolloutOf } from "../rollouts.ts";
import { groupsOfRow, UNIT, type UnitRow, unitOfRow, type WorkspaceRow } from "../rows.ts";
import { instant } from "../sql-values.ts";

/** Everything is read as of one moment, however many statements that takes. */
const ONE_MOMENT: Statement = { name: "read_one_moment", text: "set transaction isolation level repeatable read, read only" };

const INSTANCES: Statement = {
  name: "list_instances_of_class",
  text: `select ${INSTANCE} from instance i where i.class = $1 and i.state <> 'RETIRED' order by i.id`,
};

const DECLARED: Statement = {
  name: "read_declared_for_plans",
  text: "select spec -> 'versions' ->> 'floor' as floor, spec -> 'rebalancing' as rebalancing, spec -> 'pools' as pools from fleet",
};

/**
 * Expression: whether a unit `u` may not be moved without a hand-over. Something of its applications stands on its instance, or may:
 * the objects that let them stand there do, or what applications passed from it or to it there.
 */
export const IS_DEPLOYED = `(
     u.took_from is not null or u.joins is not null
  or exists (select from application a left join application_status s on s.application = a.id
              where a.unit = u.id and (s.hash is not null or a.deleted_at is not null
                or exists (select from shard_object o where o.subject in (a.id, u.id) and o.instance = u.owner and o.applied_revision > 0)))
  or exists (select from environment e join shard_object o on o.subject = e.id and o.instance = u.owner where e.workspace = u.workspace))`;

const UNITS: Statement = {
  name: "read_units_to_plan",
  text: `
select ${UNIT}, w.namespace, w.trust_class, w.apart as w_apart, w.together as w_together, d.pin as d_pin, d.hold as d_hold, d.assigned as d_assigned, ${KNOWN}, m.at as moved_at,
       v.to_instance as moving_to, c.clusters, ${IS_DEPLOYED} as is_deployed
  from placement_unit u
 cross join lateral (select namespace, trust_class, apart, together from workspace where id = u.workspace offset 0) as w
  left join directive d on d.workspace = u.workspace
  ${JOIN_KNOWN}
  left join lateral (select at from unit_move where unit = u.id order by epoch desc limit 1) as m on true
  left join move v on v.unit = u.id and v.ended_at is null and v.to_instance <> u.owner
 cross join lateral (
   select coalesce(array_agg(distinct e.api_url order by e.api_url), '{}') as clusters
     from application a join environment e on e.workspace = a.workspace and e.name = a.environment
    where a.unit = u.id and e.api_url <> '') as c
 where u.class = $1 and u.id > $2
 order by u.id limit $3`,
};
/** So many rows are made into facts in one go, which takes milliseconds; between two pages everything else in the process has its turn. */
const UNITS_OF_PAGE = 1_000;

const MOVES: Statement = {
  name: "list_unit_moves",
  text: `select unit, from_instance, to_instance, reason, at from unit_move where class = $1 and at >= $2 order by epoch desc`,
};

const VERDICTS: Statement = {
  name: "list_verdicts_of_class",
  text: `
select v.instance as "instanceId", v.state, v.at from instance_verdict v join instance i on i.id = v.instance
 where i.class = $1 and i.state <> 'RETIRED'
 order by v.instance`,
};

/** Those that a person gave up say nothing of instances. */
const FAILURES: Statement = {
  name: "list_failed_moves",
  text: `
select m.unit, m.to_instance as to, m.ended_at as at from move m join placement_unit u on u.id = m.unit
 where u.class = $1 and m.ended_at >= $2 and m.phase = 'ABORTED' and m.to_epoch is not null and m.message_code is distinct from 'GIVEN_UP'
 order by m.ended_at desc, m.id desc`,
};

type PlanUnitRow = UnitRow &
  Pick<WorkspaceRow, "w_apart" | "w_together"> &
  DirectiveRow &
  KnownRow & {
    readonly namespace: string;
    readonly trust_class: string;
    readonly moving_to: InstanceId | null;
    readonly moved_at: Millis | null;
    readonly clusters: readonly string[];
    readonly is_deployed: boolean;
  };

interface DeclaredRow {
  readonly floor: string | null;
  readonly rebalancing: readonly RebalancingSpec[] | null;
  readonly pools: readonly PoolSpec[] | null;
}

interface MoveRow {
  readonly unit: UnitId;
  readonly from_instance: InstanceId;
  readonly to_instance: InstanceId;
  readonly reason: MoveReason;
  readonly at: Millis;
}

export function readFacts(database: Database, className: string, movesSince: Millis, signal: AbortSignal): Promise<PlanFacts> {
  return database.transaction(
    "read_plan_facts",
    async (run) => {
      await run(ONE_MOMENT, []);
      const [declared] = await run<DeclaredRow>(DECLARED, []);
      const instances = (await run<InstanceRow>(INSTANCES, [className])).map(instanceOf);
      const units = await readUnits(run, className);
      const instanceLoads = (await run<InstanceLoadRow>(INSTANCE_LOADS, [className])).map(instanceLoadOf);
      const [live] = (await run<RolloutRow>(LIVE_ROLLOUT, [])).map(rolloutOf);
      const freezes = [...(await run<FreezeRow>(FREEZES, [])).map(freezeOf), ...freezeOfRollout(live, instances)];
      const state = stateOf(await run(READ_CLASS_LOAD, [className]));
      const moves = (await run<MoveRow>(MOVES, [className, instant(movesSince)])).map(moveOf);
      const failures = await run<FailedMove>(FAILURES, [className, instant(movesSince)]);
      const verdicts = await run<PlanFacts["verdicts"][number]>(VERDICTS, [className]);
      const floor = declared?.floor ?? undefined;
      const rebalancing = declared?.rebalancing?.find((each) => each.class === className);
      const scaled = scaledPools(declared?.pools ?? [], className);
      const raisable = raisablePools(declared?.pools ?? [], className);
      return {
        class: className,
        floor,
        rebalancing,
        scaled,
        raisable,
        instances,
        units,
        instanceLoads,
        freezes,
        state,
        moves,
        failures,
        verdicts,
      };
    },
    signal,
  );
}

async function readUnits(run: Run, className: string): Promise<readonly UnitFacts[]> {
  const units: UnitFacts[] = [];
  for (let after = ""; ; ) {
    const page = await run<PlanUnitRow>(UNITS, [className, after, UNITS_OF_PAGE]);
    for (const row of page) units.push(unitFactsOf(row));
    const last = page.at(-1);
    if (last === undefined || page.length < UNITS_OF_PAGE) return units;
    after = last.u_id;
  }
}

function unitFactsOf(row: PlanUnitRow): UnitFacts {
  const groups = groupsOfRow(row);
  return {
    ...(groups === undefined ? {} : { groups }),
    unit: unitOfRow(row),
    namespace: row.namespace,
    trustClass: row.trust_class,
    known: knownOf(row),
    directive: directiveOf(row),
    clusters: row.clusters,
    movingTo: row.moving_to ?? undefined,
    movedAt: row.moved_at ?? undefined,
    isDeployed: row.is_deployed,
  };
}

function moveOf({ unit, from_instance: from, to_instance: to, reason, at }: MoveRow): DoneMove {
  return { unit, from, to, reason, at };
}
