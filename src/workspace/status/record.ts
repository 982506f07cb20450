import type { Blockage } from "../../domain/blockage.ts";
import type { Environment } from "../../domain/environment.ts";
import type { EngineStatus } from "../../domain/status.ts";
import type { Application, PlacementUnit } from "../../domain/workspace.ts";

/** What the database knows of a deployment, as far as its user's status goes. */
export interface DeploymentRecord {
  readonly application: Pick<Application, "id" | "generation" | "spec" | "argoName" | "name" | "deletedAt">;
  readonly unit: Pick<PlacementUnit, "owner">;
  readonly isUnplaceable: boolean;
  /** Of a deletion that hangs. */
  readonly blockage?: Blockage | undefined;
  /** Why what is wanted is not on its instance yet, as that says, for SREs. */
  readonly trouble?: string | undefined;
  /** What its destination names, as far as it is known. */
  readonly environment: Pick<Environment, "id" | "name" | "state" | "apiUrl" | "namespaces"> | undefined;
  readonly status: { readonly status: EngineStatus } | undefined;
}
