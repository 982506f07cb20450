import { InputError } from "../../../src/domain/errors.ts";
import { findGo } from "../../dev-cluster/go-toolchain.ts";
import { provideDevelopmentCluster } from "./development.ts";
import { provideExistingCluster } from "./existing.ts";
import { isKindUsable, provideKindCluster } from "./kind.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

export interface ClusterChoice {
  readonly kubeconfig: string | undefined;
  readonly yes: boolean;
  readonly kind: boolean;
}

/**
 * The first of: the cluster of --kubeconfig, a development cluster where Go is installed, a kind cluster where a container
 * engine answers. Throws `InputError` naming all three when there is none.
 */
export async function chooseCluster(choice: ClusterChoice, context: ProvideContext, signal: AbortSignal): Promise<ProvidedCluster> {
  if (choice.kubeconfig !== undefined) {
    return provideExistingCluster({ kubeconfig: choice.kubeconfig, yes: choice.yes, why: "--kubeconfig names it" }, context, signal);
  }
  if (!choice.kind && (await hasGo())) return provideDevelopmentCluster(context, signal);
  if (await isKindUsable()) return provideKindCluster(context, signal);
  throw new InputError(choice.kind ? "no container engine with kind answers" : "there is nothing to run a cluster on", {
    code: "up.no-cluster",
    path: "PATH",
    remedy: "Install Go 1.26 or newer, or a container engine and kind, or name a cluster with --kubeconfig FILE",
  });
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
