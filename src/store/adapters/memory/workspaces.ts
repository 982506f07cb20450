import type { WorkspaceId } from "../../../domain/ids.ts";
import { dropUnit, objectKey } from "./applications.ts";
import type { Tables } from "./tables.ts";

/** Removes a workspace without applications: its units, what is recorded of their objects, its operations and credentials. */
export function dropWorkspace(tables: Tables, id: WorkspaceId): void {
  for (const { unit } of tables.units.where("workspace", id)) {
    for (const object of tables.objects.where("subject", unit.id)) tables.objects.drop(objectKey(object));
    dropUnit(tables, unit.id);
  }
  for (const { operation } of [...tables.operations.values()]) if (operation.workspaceId === id) tables.operations.drop(operation.id);
  for (const credential of tables.repositoryCredentials.where("workspace", id)) tables.repositoryCredentials.drop(credential.id);
  for (const [credentialId, { owner }] of [...tables.credentials]) if (owner === id) tables.credentials.delete(credentialId);
  for (const environment of tables.environments.where("workspace", id)) {
    for (const object of tables.objects.where("subject", environment.id)) tables.objects.drop(objectKey(object));
    tables.environments.drop(environment.id);
  }
  tables.directives.delete(id);
  tables.splits.delete(id);
  tables.workspaces.drop(id);
}
