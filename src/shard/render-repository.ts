import type { UnitId } from "../domain/ids.ts";
import { LABEL_UNIT } from "../domain/names.ts";
import type { RepositoryCredential, RepositorySecret } from "../domain/repository-credential.ts";
import type { ApplicationPlacement } from "./application-placement.ts";
import { unitFence, unitLabels } from "./application-placement.ts";
import type { DesiredObject, ObservedObject } from "./managed-object.ts";
import { desire } from "./managed-object.ts";
import { projectName, repositorySecretName } from "./names.ts";

/**
 * The Secret by which Argo CD reads one repository for one unit. It always names the unit's project: one without is used for
 * whoever asks for the repository, and a template (`repo-creds`) for whatever begins with its URL. Built field by field:
 * what else such a Secret may say (proxies, cloud identities, no checks of certificates) is nobody's to say but ours.
 */
export function renderRepository(
  placement: ApplicationPlacement,
  credential: Pick<RepositoryCredential, "id" | "url">,
  secret: RepositorySecret,
): DesiredObject {
  const fields = { type: "git", url: credential.url, project: projectName(placement.unit.id), ...secretFields(secret) };
  return desire({
    kind: "repository",
    at: { namespace: placement.instance.namespace, name: repositorySecretName(placement.unit.id, credential.id) },
    labels: { ...unitLabels(placement), "argocd.argoproj.io/secret-type": "repository" },
    annotations: {},
    fence: unitFence(placement.unit),
    content: { type: "Opaque", data: Object.fromEntries(Object.entries(fields).map(([key, text]) => [key, base64(text)])) },
  });
}

function secretFields(secret: RepositorySecret): Readonly<Record<string, string>> {
  switch (secret.kind) {
    case "basic":
      return { username: secret.username, password: secret.password };
    case "bearer":
      return { bearerToken: secret.token };
    case "ssh":
      return { sshPrivateKey: secret.privateKey };
  }
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

/** Repository Secrets of a unit beside those it should have. Sorted by name. */
export function superfluousRepositories<T extends ObservedObject>(
  observed: readonly T[],
  unitId: UnitId,
  wanted: readonly Pick<RepositoryCredential, "id">[],
): readonly T[] {
  const names = new Set(wanted.map(({ id }) => repositorySecretName(unitId, id)));
  return observed
    .filter(({ at, labels }) => labels[LABEL_UNIT] === unitId && !names.has(at.name))
    .sort((a, b) => (a.at.name < b.at.name ? -1 : 1));
}
