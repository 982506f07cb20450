import type { StoredPlan } from "../../domain/plan.ts";
import { percent } from "../percent.ts";
import type { PlanDocument, PlanReport } from "./report.ts";

/** The names that units and instances had when a plan was made, and what else a reader of the plan should know. */
export interface PlanNames {
  unit(id: string): string;
  instance(id: string): string;
  /** Whether the unit takes a live move. */
  isDeployed(id: string): boolean;
  /** Why an approver has to carry it out; empty: an operator may. */
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

/** For people: how much a plan moves that needs an approver, and how much an operator may move. Empty if no approver is needed. */
export function approvalText({
  approval,
  approvalLimits: limits,
  moved,
  movedApplications,
  workspaces,
}: Pick<PlanReport, "approval" | "approvalLimits" | "moved" | "movedApplications" | "workspaces">): string {
  if (limits === undefined || movedApplications === undefined) return approval.join(", ").toLowerCase();
  const texts = approval.map((reason) =>
    reason === "LOAD"
      ? `${movedApplications} applications with ${percent(moved)} of the load, an operator may move ${limits.applications}, or ${percent(limits.loadShare)}`
      : `${workspaces.moved} of ${workspaces.of} workspaces, an operator may move ${limits.workspaces}, or ${percent(limits.workspaceShare)}`,
  );
  return texts.join("; ");
}
