import { SIZING } from "../../scheduler/capacity/plan-size.ts";
import type { DemandModel } from "./demand-model.ts";
import { INSTANCE_CPU } from "./growing-fleet.ts";

const STEP_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;
const WHOLE = 1_000_000;

/** The fewest instances for a demand by the bounds that fleets grow by: three quarters of all, and nine tenths of what is left if one fails. */
export function fewestFor(milliCpu: number): number {
  const { all, withoutOne } = SIZING.grow;
  return Math.max(Math.ceil((milliCpu * WHOLE) / (INSTANCE_CPU * all)), Math.ceil((milliCpu * WHOLE) / (INSTANCE_CPU * withoutOne)) + 1);
}

/**
 * Instance-hours of somebody who knows the load of each day beforehand, and has as many instances on it as its busiest moment needs. Following the hours of
 * a day would cost less, and would move a third of all workspaces twice a day.
 */
export function oracleHours(demand: DemandModel, days: number): number {
  let hours = 0;
  for (let day = 0; day < days; day += 1) {
    let most = 0;
    for (let at = 0; at < DAY_MS; at += STEP_MS) most = Math.max(most, demand.total(day * DAY_MS + at));
    hours += 24 * fewestFor(most);
  }
  return hours;
}

/** How many instances the busiest moment of all needs. */
export function peakInstances(demand: DemandModel, days: number): number {
  let most = 0;
  for (let at = 0; at < days * DAY_MS; at += STEP_MS) most = Math.max(most, demand.total(at));
  return fewestFor(most);
}
