import type { EngineStatus } from "../../domain/status.ts";
import type { Application, PlacementUnit } from "../../domain/workspace.ts";

/** What the database knows of a deployment, as far as its user's status goes. */
export interface DeploymentRecord {
  readonly application: Pick<Application, "id" | "generation" | "spec" | "argoName" | "name" | "deletedAt">;
  readonly unit: Pick<PlacementUnit, "owner">;
  readonly isUnplaceable: boolean;
  readonly status: { readonly status: EngineStatus } | undefined;
}
