import type { StoredPlan } from "../../domain/plan.ts";
import type { PlanDocument } from "./make-plan.ts";

/** What the things a plan names were called when it was made, and what else its reader should know of it. */
export interface PlanNames {
  unit(id: string): string;
  instance(id: string): string;
  /** Whether the unit takes a live move. */
  isDeployed(id: string): boolean;
  /** Why a person who approves has to carry it out; empty: an operator may. */
  readonly approval: readonly string[];
}

export function planNames({ report }: StoredPlan): PlanNames {
  const { names, deployed, approval } = report as unknown as PlanDocument;
  return {
    unit: (id) => names.units[id] ?? id,
    instance: (id) => names.instances[id] ?? id,
    isDeployed: (id) => deployed.includes(id),
    approval,
  };
}
