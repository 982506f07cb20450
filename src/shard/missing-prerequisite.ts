import type { Environment } from "../domain/environment.ts";
import type { EnvironmentId } from "../domain/ids.ts";
import { repositoryKey } from "../domain/repository-credential.ts";
import { placeOf } from "../domain/repository-spelling.ts";
import type { Application } from "../domain/workspace.ts";

/** A credential that a unit should have on its owner, and that cannot be read where it is stored. What needs it waits; nothing else does. */
export type MissingPrerequisite =
  | { readonly kind: "repository"; readonly url: string; readonly urlKey: string }
  | { readonly kind: "environment"; readonly id: EnvironmentId; readonly name: string };

/** Which of these an application needs; `undefined`: none. */
export function missingPrerequisiteOf(
  {
    application,
    environment,
  }: { readonly application: Pick<Application, "spec">; readonly environment: Pick<Environment, "id"> | undefined },
  missingPrerequisites: readonly MissingPrerequisite[],
): MissingPrerequisite | undefined {
  if (missingPrerequisites.length === 0) return undefined;
  const key = repositoryKey(placeOf(application.spec.source.repoUrl));
  return missingPrerequisites.find((missingPrerequisite) =>
    missingPrerequisite.kind === "repository"
      ? repositoryKey(placeOf(missingPrerequisite.url)) === key
      : missingPrerequisite.id === environment?.id,
  );
}
