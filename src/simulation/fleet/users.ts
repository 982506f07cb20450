import { USER_FINALIZER } from "../../domain/names.ts";
import type { Rng } from "../../domain/rng.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import { DEPLOYMENTS } from "../../workspace/adapters/kubernetes/user-resources.ts";
import { NAMESPACE_FINALIZER } from "../models/kubernetes/cluster-controllers.ts";
import { NAMESPACE_TYPE } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Fleet } from "./fleet.ts";

/** What users do, each at one moment: their own clients and their patience are not simulated. */
export interface Users {
  /** In any namespace, if none is said. */
  create(namespace?: string): void;
  edit(): void;
  remove(): void;
  /** Deletes a deployment and makes another of the same name at once. */
  recreate(): void;
  /** Makes a deployment and deletes it within a moment, as a hasty user or a test does. */
  flash(): void;
  push(): void;
  endNamespace(): void;
}

const API_VERSION = "managed-gitops.redhat.com/v1alpha1";
/** What a hasty user waits between making and deleting, in ms, at most. */
const FLASH_MS = 1_500;

export function createUsers(fleet: Fleet, workspaces: number): Users {
  const { world, git } = fleet;
  const { objects } = fleet.api;
  const rng = world.rng.fork("users");
  const namespaces = Array.from({ length: workspaces }, (_, index) => `team-${index + 1}`);
  const hands = createHands(fleet, rng);
  const { make, remove, some } = hands;
  const create = (namespace?: string): JsonMap | undefined =>
    make(namespace ?? pick(rng, namespaces) ?? "team-1", `app-${hands.count() + 1}`);
  const withSome = (act: (found: JsonMap) => void): void => {
    const found = some();
    if (found !== undefined) act(found);
  };
  return {
    create: (namespace) => void create(namespace),
    edit: () => withSome(hands.edit),
    remove: () => withSome(remove),
    recreate: () =>
      withSome((found) => {
        remove(found);
        world.schedule(
          rng.next() * FLASH_MS,
          "a user makes it anew",
          () => void make(textAt(metadataOf(found), "namespace"), nameOf(found)),
        );
      }),
    flash() {
      const made = create();
      if (made !== undefined) world.schedule(rng.next() * FLASH_MS, "a user changes their mind", () => remove(made));
    },
    push: () => withSome((found) => git.push(pathOf(found), filesFor(rng, nameOf(found), hands.next()))),
    endNamespace() {
      const name = pick(rng, namespaces) ?? "";
      const found = objects.list(NAMESPACE_TYPE, "").find((each) => nameOf(each) === name);
      if (found === undefined || metadataOf(found)["deletionTimestamp"] !== undefined) return;
      world.record({ kind: "user", act: "delete-namespace", namespace: name, name, uid: textAt(metadataOf(found), "uid"), path: "" });
      objects.delete(NAMESPACE_TYPE, { namespace: "", name }, { body: {}, dryRun: false });
    },
  };
}

/** What one pair of hands does with kubectl. */
function createHands({ world, git, api: { objects } }: Fleet, rng: Rng) {
  let count = 0;
  const next = (): number => {
    count += 1;
    return count;
  };
  const ensureNamespace = (name: string): boolean => {
    const found = objects.list(NAMESPACE_TYPE, "").find((each) => nameOf(each) === name);
    if (found === undefined)
      objects.create(NAMESPACE_TYPE, "", { sent: { metadata: { name, finalizers: [NAMESPACE_FINALIZER] } }, dryRun: false });
    return found === undefined || metadataOf(found)["deletionTimestamp"] === undefined;
  };
  const tell = (act: "create" | "edit" | "delete", of: JsonMap): void => {
    const metadata = metadataOf(of);
    const [namespace, uid] = [textAt(metadata, "namespace"), textAt(metadata, "uid")];
    world.record({ kind: "user", act, namespace, name: nameOf(of), uid, path: pathOf(of) });
  };
  const find = (namespace: string, name: string): JsonMap | undefined =>
    objects.list(DEPLOYMENTS, namespace).find((each) => nameOf(each) === name);
  return {
    next,
    count: () => count,
    some: (): JsonMap | undefined =>
      pick(
        rng,
        objects.list(DEPLOYMENTS, "").filter((each) => metadataOf(each)["deletionTimestamp"] === undefined),
      ),
    make(namespace: string, name: string): JsonMap | undefined {
      if (!ensureNamespace(namespace) || find(namespace, name) !== undefined) return undefined;
      const path = `apps/${namespace}/${name}`;
      const files = filesFor(rng, name, next());
      if (Object.keys(git.files(path)).length === 0) git.push(path, files);
      const finalizers = rng.next() < 0.5 ? { finalizers: [USER_FINALIZER] } : {};
      const sent = {
        ...{ apiVersion: API_VERSION, kind: DEPLOYMENTS.kind, metadata: { name, ...finalizers } },
        spec: { source: { repoURL: git.url, path, targetRevision: "main" }, type: "automated" },
      };
      const made = objects.create(DEPLOYMENTS, namespace, { sent, dryRun: false });
      tell("create", made);
      return made;
    },
    edit(found: JsonMap): void {
      const at = { namespace: textAt(metadataOf(found), "namespace"), name: nameOf(found) };
      const path = `${pathOf(found)}-edited-${next()}`;
      git.push(path, filesFor(rng, at.name, count));
      tell("edit", objects.mergePatch(DEPLOYMENTS, at, { isStatus: false, dryRun: false, patch: { spec: { source: { path } } } }));
    },
    remove(deployment: JsonMap): void {
      const at = { namespace: textAt(metadataOf(deployment), "namespace"), name: nameOf(deployment) };
      const now = find(at.namespace, at.name);
      if (now === undefined || metadataOf(now)["uid"] !== metadataOf(deployment)["uid"]) return;
      tell("delete", now);
      objects.delete(DEPLOYMENTS, at, { body: {}, dryRun: false });
    },
  };
}

/** One to three objects; their names hold the deployment's, so that deployments never share one. */
function filesFor(rng: Rng, name: string, count: number): Readonly<Record<string, string>> {
  const files = 1 + Math.floor(rng.next() * 3);
  return Object.fromEntries(Array.from({ length: files }, (_, index) => [`${name}-${index}`, `content ${count}`]));
}

export function pathOf(deployment: JsonMap): string {
  const { source } = (deployment["spec"] ?? {}) as { readonly source?: { readonly path?: string } };
  return source?.path ?? "";
}

function pick<T>(rng: Rng, from: readonly T[]): T | undefined {
  return from[Math.floor(rng.next() * from.length)];
}
