import { ENVIRONMENT_PURPOSE } from "../../domain/environment.ts";
import type { CredentialId, EnvironmentId, WorkspaceId } from "../../domain/ids.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { ANNOTATION_REFRESH, environmentEntryName } from "../../shard/names.ts";
import type { Connection } from "../../store/environment/port.ts";
import { ENGINE_SECRETS } from "../adapters/kubernetes/types.ts";
import type { World } from "./world.ts";

export const PROD = "https://prod.example:6443";

/** An environment `prod` of the workspace in namespace `team-a`, as the workspace controllers record it. */
export interface TestEnvironment {
  readonly id: EnvironmentId;
  readonly server: string;
  /** It works with this token. */
  connect(token: string, over?: Partial<Connection>): Promise<void>;
  withdraw(): Promise<void>;
  /** Whether nothing is left of it. */
  end(): Promise<boolean>;
  /** Fields of the instance's entry for it, decoded; `undefined` where there is none. */
  entry(instanceNamespace: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** From when on the instance is to have read its cluster anew; `undefined`: nobody asks for that. */
  readAgainAt(instanceNamespace: string): Promise<string | undefined>;
}

export async function addEnvironment(world: World, uid = "environment-uid-1", namespace = "team-a"): Promise<TestEnvironment> {
  const { environments, credentials } = world.rows.users;
  const { signal } = world;
  const workspace = {
    plane: "kubernetes",
    apiCluster: "api",
    namespace,
    namespaceUid: `uid-of-${namespace}`,
    trustClass: "public",
  } as const;
  const newIds = { workspaceId: `workspace-of-${uid}` as WorkspaceId, environmentId: `environment-of-${uid}` as EnvironmentId };
  const { id, workspaceId } = await environments.claim({ workspace, newIds, name: "prod", uid }, signal);
  const secretOf = (instanceNamespace: string) => {
    const at = { namespace: instanceNamespace, name: environmentEntryName(id) };
    return world.hands.engine.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(ENGINE_SECRETS, at, signal);
  };
  const key = { id: id as string as CredentialId, owner: workspaceId, purpose: ENVIRONMENT_PURPOSE };
  return {
    id,
    server: `${PROD}?managedEnvironment=${id}`,
    async connect(token, over = {}) {
      const fingerprint = await credentials.put(key, JSON.stringify({ server: PROD, token }), signal);
      const flags = { clusterResources: false, isInsecure: false, createsAccount: false };
      await environments.connect({ id, generation: 1, apiUrl: PROD, namespaces: ["web"], fingerprint, ...flags, ...over }, signal);
    },
    withdraw: () => environments.withdraw(uid, signal),
    end: async () => (await environments.recordEnd(uid, "at-once", signal)) === "gone",
    async entry(instanceNamespace) {
      const secret = await secretOf(instanceNamespace);
      const data = Object.entries(secret?.data ?? {}).map(([field, value]) => [field, Buffer.from(value, "base64").toString()]);
      return secret === undefined ? undefined : Object.fromEntries(data);
    },
    readAgainAt: async (instanceNamespace) => (await secretOf(instanceNamespace))?.metadata.annotations?.[ANNOTATION_REFRESH],
  };
}
