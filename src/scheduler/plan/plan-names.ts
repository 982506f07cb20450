import type { StoredPlan } from "../../domain/plan.ts";
import { approvalText } from "./approval-text.ts";
import type { PlanDocument } from "./make-plan.ts";

/** What the things a plan names were called when it was made, and what else its reader should know of it. */
export interface PlanNames {
  unit(id: string): string;
  instance(id: string): string;
  /** Whether the unit takes a live move. */
  isDeployed(id: string): boolean;
  /** Why a person who approves has to carry it out; empty: an operator may. */
  readonly approval: readonly string[];
  /** The same in words: what it moves, and how much an operator may. */
  readonly approvalText: string;
}

export function planNames({ report }: StoredPlan): PlanNames {
  const document = report as unknown as PlanDocument;
  const { names, deployed, approval } = document;
  return {
    unit: (id) => names.units[id] ?? id,
    instance: (id) => names.instances[id] ?? id,
    isDeployed: (id) => deployed.includes(id),
    approval,
    approvalText: approvalText(document),
  };
}
