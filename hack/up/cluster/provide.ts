import { InputError } from "../../../src/domain/errors.ts";
import { findGo } from "../../dev-cluster/go-toolchain.ts";
import type { ClusterChoice, ClusterProbes } from "./choose.ts";
import { provideDevelopmentCluster } from "./development.ts";
import { provideExistingCluster } from "./existing.ts";
import { isKindUsable, provideKindCluster } from "./kind.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

/** What this machine has. */
export const machineProbes: ClusterProbes = { hasGo, hasKind: isKindUsable };

/** Starts the chosen cluster, or opens an existing one. */
export async function provideCluster(choice: ClusterChoice, context: ProvideContext, signal: AbortSignal): Promise<ProvidedCluster> {
  switch (choice.is) {
    case "existing":
      return provideExistingCluster({ kubeconfig: choice.kubeconfig }, context, signal);
    case "development":
      return provideDevelopmentCluster(choice, context, signal);
    case "kind":
      return provideKindCluster(context, signal);
  }
}

async function hasGo(): Promise<boolean> {
  try {
    await findGo();
    return true;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}
