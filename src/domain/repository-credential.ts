import type { CredentialId, RepositoryCredentialId, WorkspaceId } from "./ids.ts";

/** What a private repository is read with; stored encrypted only. */
export type RepositorySecret =
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string }
  | { readonly kind: "ssh"; readonly privateKey: string };

/**
 * A copy of one GitOpsDeploymentRepositoryCredential (its `uid` and `generation`) that was seen to work: one that was not, or
 * does not any more, has no row.
 */
export interface RepositoryCredential {
  readonly id: RepositoryCredentialId;
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** When the resource was made, as its API server says (RFC 3339, UTC). */
  readonly createdAt: string;
  /** As the user wrote it. */
  readonly url: string;
  /** Equal for all spellings that Argo CD takes for the same repository. */
  readonly urlKey: string;
  /** The secret, in the store of credentials. */
  readonly credentialId: CredentialId;
  /** Version of the user's Secret that was read. */
  readonly secretVersion: string;
}

/** What the secret is stored for; authenticated with it. */
export const REPOSITORY_PURPOSE = "repository";

/** `user@host:path`, with the host as its group. */
export const scpLike = /^[^/@]+@(\[[^\]]*\]|[^/:]+):/;

/**
 * The same text for all spellings that Argo CD 3.x takes for one repository (`NormalizeGitURL`): case, `.git` at the end, and
 * for SSH the two ways to write it do not matter.
 */
export function repositoryKey(url: string): string {
  const lower = url.trim().toLowerCase();
  const isScp = !/^[a-z][a-z0-9+.-]*:\/\//.test(lower) && scpLike.test(lower);
  const plain = isScp ? lower.replace(/:/, "/") : lower;
  return plain.replace(/\.git$/, "").replace(/^ssh:\/\//, "");
}

type Ranked = Pick<RepositoryCredential, "urlKey" | "createdAt" | "uid">;

/**
 * Of all credentials of a workspace the one that is used for each repository: the oldest, then the smallest uid. Argo CD takes
 * any of several for one repository, and another one after a restart. Sorted by key of the URL.
 */
export function chosenCredentials<T extends Ranked>(credentials: readonly T[]): readonly T[] {
  const chosen = new Map<string, T>();
  for (const one of credentials) {
    const other = chosen.get(one.urlKey);
    if (other === undefined || isBefore(one, other)) chosen.set(one.urlKey, one);
  }
  return [...chosen.values()].sort((a, b) => (a.urlKey < b.urlKey ? -1 : 1));
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.uid < b.uid);
}

/** The secret as the text that is encrypted; equal secrets give equal texts. */
export function writeRepositorySecret(secret: RepositorySecret): string {
  switch (secret.kind) {
    case "basic":
      return JSON.stringify({ kind: secret.kind, username: secret.username, password: secret.password });
    case "bearer":
      return JSON.stringify({ kind: secret.kind, token: secret.token });
    case "ssh":
      return JSON.stringify({ kind: secret.kind, privateKey: secret.privateKey });
  }
}

/** Reads what {@link writeRepositorySecret} wrote; `undefined` for anything else. */
export function readRepositorySecret(text: string): RepositorySecret | undefined {
  const { kind, username, password, token, privateKey } = parsed(text);
  if (kind === "basic" && typeof username === "string" && typeof password === "string") return { kind, username, password };
  if (kind === "bearer" && typeof token === "string") return { kind, token };
  if (kind === "ssh" && typeof privateKey === "string") return { kind, privateKey };
  return undefined;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
