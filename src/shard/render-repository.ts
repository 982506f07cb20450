import type { UnitId } from "../domain/ids.ts";
import { LABEL_UNIT_OF_ENVIRONMENTS } from "../domain/names.ts";
import { type RepositoryCredential, type RepositorySecret, repositoryKey } from "../domain/repository-credential.ts";
import { placeOf } from "../domain/repository-spelling.ts";
import type { ApplicationPlacement } from "./application-placement.ts";
import { instanceLabels, unitFence, unitLabels } from "./application-placement.ts";
import type { DesiredObject, ObservedObject } from "./managed-object.ts";
import { desire } from "./managed-object.ts";
import { environmentProjectName, projectName, type RepositorySecretKey, repositorySecretName } from "./names.ts";
import { unitOf } from "./parse-application.ts";

/** A credential, for which spelling of its repository it is given to an instance, and for which of the unit's projects. */
export interface SpelledCredential extends Pick<RepositoryCredential, "url">, RepositorySecretKey {}

/**
 * The credentials that a unit's instance is given: each as its user wrote it, and for every other spelling by which the instance has its
 * repository.
 */
export function spelledCredentials<T extends Pick<RepositoryCredential, "url">>(
  credentials: readonly T[],
  repoUrls: readonly string[],
): readonly (T & { readonly spelling?: string })[] {
  const keyOf = (url: string): string => repositoryKey(placeOf(url));
  return credentials.flatMap((credential) => {
    const others = repoUrls.filter((url) => keyOf(url) === keyOf(credential.url) && repositoryKey(url) !== repositoryKey(credential.url));
    return [credential, ...others.map((spelling) => ({ ...credential, spelling }))];
  });
}

/**
 * Those of them that are given to an instance once more, for what the unit deploys to environments: Argo CD uses a repository's Secret for
 * the project that it names, and for no other. `repoUrls`: repositories of the unit's applications for environments, spelled as the instance
 * has them.
 */
export function environmentCredentials<T extends Pick<SpelledCredential, "url" | "spelling">>(
  spelled: readonly T[],
  repoUrls: readonly string[],
): readonly (T & { readonly isForEnvironments: true })[] {
  const used = new Set(repoUrls.map(repositoryKey));
  return spelled
    .filter(({ url, spelling }) => used.has(repositoryKey(spelling ?? url)))
    .map((credential) => ({ ...credential, isForEnvironments: true }));
}

/**
 * The Secret by which Argo CD reads one repository for one of a unit's projects. It always names the project: one without is used for
 * whoever asks for the repository, and a template (`repo-creds`) for whatever begins with its URL. Built field by field:
 * what else such a Secret may say (proxies, cloud identities, no checks of certificates) is nobody's to say but ours.
 */
export function renderRepository(placement: ApplicationPlacement, credential: SpelledCredential, secret: RepositorySecret): DesiredObject {
  const isForEnvironments = credential.isForEnvironments === true;
  const owner = isForEnvironments
    ? { ...instanceLabels(placement.instance.id), [LABEL_UNIT_OF_ENVIRONMENTS]: placement.unit.id }
    : unitLabels(placement);
  const fields = {
    type: "git",
    url: credential.spelling ?? credential.url,
    project: isForEnvironments ? environmentProjectName(placement.unit.id) : projectName(placement.unit.id),
    ...secretFields(secret),
  };
  return desire({
    kind: "repository",
    at: { namespace: placement.instance.namespace, name: repositorySecretName(placement.unit.id, credential) },
    labels: { ...owner, "argocd.argoproj.io/secret-type": "repository" },
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
  wanted: readonly RepositorySecretKey[],
): readonly T[] {
  const names = new Set(wanted.map((credential) => repositorySecretName(unitId, credential)));
  return observed.filter((one) => unitOf(one) === unitId && !names.has(one.at.name)).sort((a, b) => (a.at.name < b.at.name ? -1 : 1));
}
