import type { FleetStore } from "../store/fleet/port.ts";
import { admitsTheSame, closedPolicy, type WorkspacePolicy, workspacePolicy } from "./workspace-policy.ts";

/** The policy as it was read last. */
export interface PolicySource {
  /** Before the first read, and while no fleet is declared, the policy that admits nothing. */
  current(): WorkspacePolicy;
  /** `undefined` before the first read, and while no fleet is declared. */
  declared(): WorkspacePolicy | undefined;
  /** Reads the declared fleet and its instances again. Resolves to whether other resources are admitted than before. */
  refresh(signal: AbortSignal): Promise<boolean>;
}

/** Creates the policy of one controller, which has to read it now and then. */
export function createPolicySource(fleet: Pick<FleetStore, "readFleet" | "listInstances">): PolicySource {
  let policy: WorkspacePolicy | undefined;
  return {
    current: () => policy ?? closedPolicy,
    declared: () => policy,
    async refresh(signal) {
      const [before, next] = [policy, await readDeclaredPolicy(fleet, signal)];
      policy = next;
      if (before === undefined || next === undefined) return before !== next;
      return !admitsTheSame(before, next);
    },
  };
}

/** Reads what the declared fleet means for users' resources; `undefined` while none is declared. */
async function readDeclaredPolicy(
  fleet: Pick<FleetStore, "readFleet" | "listInstances">,
  signal: AbortSignal,
): Promise<WorkspacePolicy | undefined> {
  const [stored, instances] = [await fleet.readFleet(signal), await fleet.listInstances(signal)];
  return stored === undefined ? undefined : workspacePolicy(stored.spec, instances);
}
