import { USER_FINALIZER } from "../../src/domain/names.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { apiVersionOf, type KubeObject } from "../../src/runtime/kube/resource.ts";
import { inFlight } from "../load.ts";
import { DEPLOYMENTS, NAMESPACES } from "./kinds.ts";
import type { Live } from "./live.ts";

export interface SeenDeployment {
  readonly uid: string;
  readonly revision: string;
  readonly isReported: boolean;
  readonly status: unknown;
}

export interface SeenInstanceApplication {
  readonly namespace: string;
  readonly name: string;
}

/** One deployment of a user. Its path in Git is unique, and identifies its Application. */
export interface Deployment {
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
}

/** What users do, and what they and the instances see of it. */
export interface Users {
  readonly deployments: Live<SeenDeployment>;
  /** By path. */
  readonly applications: Live<SeenInstanceApplication>;
  /** A new deployment that nobody has created yet. */
  next(namespace: string): Deployment;
  addWorkspaces(namespaces: readonly string[]): Promise<void>;
  create(deployment: Deployment, options?: { readonly isHeld?: boolean }): Promise<void>;
  /** Changes its path and returns the changed deployment. */
  change(deployment: Deployment): Promise<Deployment>;
  remove(deployment: Deployment): Promise<void>;
  /** Creates them, 32 at a time, and waits until every user's status says Synced. */
  settle(deployments: readonly Deployment[]): Promise<void>;
  /** Deletes them and waits until nothing is left of them. */
  clear(deployments: readonly Deployment[]): Promise<void>;
  /** The same users with another client, so that requests of one do not wait behind those of the other. */
  through(client: KubeClient): Users;
}

export interface UsersOptions {
  readonly client: KubeClient;
  readonly deployments: Live<SeenDeployment>;
  readonly applications: Live<SeenInstanceApplication>;
  readonly repoUrl: string;
  readonly signal: AbortSignal;
}

/** How many requests of users are under way at once. */
export const AT_ONCE = 32;

export const deploymentKey = ({ namespace, name }: Pick<Deployment, "namespace" | "name">): string => `${namespace}/${name}`;
export const isThere = (value: unknown): boolean => value !== undefined;
export const isGone = (value: unknown): boolean => value === undefined;
export const isReported = (seen: SeenDeployment | undefined): boolean => seen?.isReported === true;

let count = 0;
function freshPath(): string {
  count += 1;
  return `d/${count}`;
}

export function createUsers(options: UsersOptions): Users {
  const { client, deployments, applications, repoUrl, signal } = options;
  const remove = (deployment: Deployment): Promise<void> => client.delete(DEPLOYMENTS, deployment, {}, signal);
  const create: Users["create"] = async ({ namespace, name, path }, { isHeld = false } = {}) =>
    void (await client.create(
      DEPLOYMENTS,
      deploymentObject(DEPLOYMENTS, { namespace, name, path, repoUrl, ...(isHeld ? { finalizers: [USER_FINALIZER] } : {}) }),
      signal,
    ));
  return {
    deployments,
    applications,
    next(namespace) {
      const path = freshPath();
      return { namespace, name: path.replace("/", "-"), path };
    },
    addWorkspaces: async (namespaces) =>
      void (await inFlight(namespaces, AT_ONCE, (name) =>
        client.apply(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { fieldManager: "bench" }, signal),
      )),
    create,
    async change(deployment) {
      const path = freshPath();
      await client.mergePatch(DEPLOYMENTS, deployment, { spec: { source: { path } } }, signal);
      return { ...deployment, path };
    },
    remove,
    async settle(wanted) {
      await inFlight(wanted, AT_ONCE, async (deployment) => {
        await create(deployment);
      });
      await Promise.all(wanted.map((deployment) => deployments.until(deploymentKey(deployment), isReported)));
    },
    async clear(unwanted) {
      await inFlight(unwanted, AT_ONCE, remove);
      await Promise.all(
        unwanted.flatMap((deployment) => [
          deployments.until(deploymentKey(deployment), isGone),
          applications.until(deployment.path, isGone),
        ]),
      );
    },
    through: (other) => createUsers({ ...options, client: other }),
  };
}

/** A users' resource, of their kind or of its copy. */
export function deploymentObject(
  type: typeof DEPLOYMENTS,
  { namespace, name, path, repoUrl, finalizers }: Deployment & { readonly repoUrl: string; readonly finalizers?: readonly string[] },
): KubeObject {
  const metadata = { namespace, name, ...(finalizers === undefined ? {} : { finalizers }) };
  const spec = { source: { repoURL: repoUrl, path, targetRevision: "main" }, type: "automated" };
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec } as KubeObject;
}

interface RawDeployment extends KubeObject {
  readonly status?: {
    readonly sync?: { readonly status?: string; readonly revision?: string };
    readonly health?: { readonly status?: string };
  };
}

export function seeDeployment(object: KubeObject): SeenDeployment {
  const { metadata, status } = object as RawDeployment;
  return {
    uid: metadata.uid ?? "",
    revision: status?.sync?.revision ?? "",
    isReported: status?.sync?.status === "Synced" && status.health?.status === "Healthy",
    status,
  };
}
