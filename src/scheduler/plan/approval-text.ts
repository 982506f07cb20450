import { percent } from "../percent.ts";
import type { PlanReport } from "./report.ts";

/** What a plan moves that needs an approver, beside what an operator may move, for people; of a plan that needs none, nothing. */
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
