import type { ObservedNamespace } from "../domain/user-resource.ts";
import type { FleetStore } from "../store/fleet/port.ts";
import type { IntentStore } from "../store/intent/port.ts";
import { admitsTheSame, closedPolicy, requotedNamespaces, type WorkspacePolicy, workspacePolicy } from "./workspace-policy.ts";

/** The workspaces of one API cluster that are judged by what their classes allow. */
export interface JudgedWorkspaces {
  readonly intents: Pick<IntentStore, "listClasses">;
  readonly apiCluster: string;
  readonly namespaceOf: (name: string) => ObservedNamespace | undefined;
}

/** The policy as it was read last. */
export interface PolicySource {
  /** Before the first read, and while no fleet is declared, the policy that admits nothing. */
  current(): WorkspacePolicy;
  /** `undefined` before the first read, and while no fleet is declared. */
  declared(): WorkspacePolicy | undefined;
  /** Reads the declared fleet, its instances and the classes of workspaces again. Resolves to what is to be judged again. */
  refresh(signal: AbortSignal): Promise<PolicyChange>;
}

/** What is judged in another way than before: everything, or these namespaces, whose workspace may have more or less. */
export type PolicyChange = { readonly of: "everything" } | { readonly of: "namespaces"; readonly names: readonly string[] };

/**
 * Creates the policy of one controller, which has to read it now and then. `judged`: whose classes are read, as long as some class has a quota of its own;
 * absent: the controller judges nobody by a quota.
 */
export function createPolicySource(fleet: Pick<FleetStore, "readFleet" | "listInstances">, judged?: JudgedWorkspaces): PolicySource {
  let policy: WorkspacePolicy | undefined;

  /** `undefined` while no fleet is declared. */
  async function readDeclared(signal: AbortSignal): Promise<WorkspacePolicy | undefined> {
    const [stored, instances] = [await fleet.readFleet(signal), await fleet.listInstances(signal)];
    if (stored === undefined) return undefined;
    const isByClass = judged !== undefined && stored.spec.workspaces.classQuotas !== undefined;
    const recorded = isByClass ? await judged.intents.listClasses(judged.apiCluster, signal) : [];
    return workspacePolicy(stored.spec, instances, recorded);
  }
  return {
    current: () => policy ?? closedPolicy,
    declared: () => policy,
    async refresh(signal) {
      const [before, next] = [policy, await readDeclared(signal)];
      policy = next;
      if (before === undefined || next === undefined) return before === next ? { of: "namespaces", names: [] } : { of: "everything" };
      if (!admitsTheSame(before, next)) return { of: "everything" };
      return { of: "namespaces", names: judged === undefined ? [] : requotedNamespaces(before, next, judged.namespaceOf) };
    },
  };
}
