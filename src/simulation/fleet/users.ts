import { USER_FINALIZER } from "../../domain/names.ts";
import type { Rng } from "../../domain/rng.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import { USER_DEPLOYMENTS } from "../../workspace/adapters/kubernetes/user-resources.ts";
import { ANNOTATION_REFRESHED_AT } from "../../workspace/api/names.ts";
import { REFUSED } from "../models/engine/operate.ts";
import { NAMESPACE_FINALIZER } from "../models/kubernetes/cluster-controllers.ts";
import { NAMESPACE_TYPE } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Fleet } from "./fleet.ts";

/** What users do, each act at one moment: their clients and their timeouts are not simulated. */
export interface Users {
  /** In any namespace, if none is given. */
  create(namespace?: string): void;
  edit(): void;
  remove(): void;
  /** Deletes a deployment and makes another of the same name at once. */
  recreate(): void;
  /** Makes a deployment and deletes it a moment later, as a hasty user or a test does. */
  flash(): void;
  push(): void;
  /** Asks for a refresh. */
  poke(): void;
  /** Names a path with an object that cannot be deployed, and mends that later: with the path as it was, or with another one. */
  stumble(): void;
  endNamespace(): void;
}

const API_VERSION = "managed-gitops.redhat.com/v1alpha1";
/** How long a hasty user waits between making and deleting, in ms, at most. */
const FLASH_MS = 1_500;
/** How long a user takes to see that a path was wrong, in ms at most: half of the times they see it at once. */
const MEND_MS = { soon: 800, late: 20_000 };
/** How long somebody takes who undoes at once what they did, in ms, at most. */
const HASTE_MS = 300;

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
    poke: () => withSome((found) => poke(fleet, found, hands.next())),
    stumble: () =>
      withSome((found) => {
        const { soon, late } = MEND_MS;
        hands.spoil(found);
        world.schedule(rng.next() * (rng.next() < 0.5 ? soon : late), "a user mends a path", () => {
          const path = hands.mend(found);
          // And once back and forth, as somebody does who tries things out.
          const againMs = rng.next() * soon;
          world.schedule(againMs, "a user names another path", () => hands.spoil(found));
          world.schedule(againMs + rng.next() * HASTE_MS, "a user takes that back", () => hands.mend(found, path));
        });
      }),
    endNamespace() {
      const name = pick(rng, namespaces) ?? "";
      const found = objects.list(NAMESPACE_TYPE, "").find((each) => nameOf(each) === name);
      if (found === undefined || metadataOf(found)["deletionTimestamp"] !== undefined) return;
      world.record({ kind: "user", act: "delete-namespace", namespace: name, name, uid: textAt(metadataOf(found), "uid"), path: "" });
      objects.delete(NAMESPACE_TYPE, { namespace: "", name }, { body: {}, dryRun: false });
    },
  };
}

/** What users do with kubectl. */
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
    objects.list(USER_DEPLOYMENTS, namespace).find((each) => nameOf(each) === name);
  /** Changes the path of a deployment; `files` are pushed to it first. */
  const turn = (found: JsonMap, path: string, files?: Readonly<Record<string, string>>): void => {
    const at = { namespace: textAt(metadataOf(found), "namespace"), name: nameOf(found) };
    const now = find(at.namespace, at.name);
    if (now === undefined || metadataOf(now)["uid"] !== metadataOf(found)["uid"] || metadataOf(now)["deletionTimestamp"] !== undefined)
      return;
    if (files !== undefined) git.push(path, files);
    tell("edit", objects.mergePatch(USER_DEPLOYMENTS, at, { isStatus: false, dryRun: false, patch: { spec: { source: { path } } } }));
  };
  return {
    next,
    count: () => count,
    spoil(found: JsonMap): void {
      const files = filesFor(rng, nameOf(found), next());
      turn(found, `${firstPathOf(found)}-spoilt-${count}`, { ...files, [`${nameOf(found)}-9`]: REFUSED });
    },
    /** `path`: one that has been good before. Returns the path. */
    mend(found: JsonMap, path?: string): string {
      const named = path ?? `${firstPathOf(found)}-edited-${next()}`;
      turn(found, named, path === undefined ? filesFor(rng, nameOf(found), count) : undefined);
      return named;
    },
    some: (): JsonMap | undefined =>
      pick(
        rng,
        objects.list(USER_DEPLOYMENTS, "").filter((each) => metadataOf(each)["deletionTimestamp"] === undefined),
      ),
    make(namespace: string, name: string): JsonMap | undefined {
      if (!ensureNamespace(namespace) || find(namespace, name) !== undefined) return undefined;
      const path = `apps/${namespace}/${name}`;
      const files = filesFor(rng, name, next());
      if (Object.keys(git.files(path)).length === 0) git.push(path, files);
      const finalizers = rng.next() < 0.5 ? { finalizers: [USER_FINALIZER] } : {};
      const sent = {
        ...{ apiVersion: API_VERSION, kind: USER_DEPLOYMENTS.kind, metadata: { name, ...finalizers } },
        spec: { source: { repoURL: git.url, path, targetRevision: "main" }, type: "automated" },
      };
      const made = objects.create(USER_DEPLOYMENTS, namespace, { sent, dryRun: false });
      tell("create", made);
      return made;
    },
    edit(found: JsonMap): void {
      const at = { namespace: textAt(metadataOf(found), "namespace"), name: nameOf(found) };
      const path = `${pathOf(found)}-edited-${next()}`;
      git.push(path, filesFor(rng, at.name, count));
      tell("edit", objects.mergePatch(USER_DEPLOYMENTS, at, { isStatus: false, dryRun: false, patch: { spec: { source: { path } } } }));
    },
    remove(deployment: JsonMap): void {
      const at = { namespace: textAt(metadataOf(deployment), "namespace"), name: nameOf(deployment) };
      const now = find(at.namespace, at.name);
      if (now === undefined || metadataOf(now)["uid"] !== metadataOf(deployment)["uid"]) return;
      tell("delete", now);
      objects.delete(USER_DEPLOYMENTS, at, { body: {}, dryRun: false });
    },
  };
}

/** Asks for a refresh. */
function poke({ api: { objects } }: Fleet, found: JsonMap, count: number): void {
  const at = { namespace: textAt(metadataOf(found), "namespace"), name: nameOf(found) };
  const patch = { metadata: { annotations: { [ANNOTATION_REFRESHED_AT]: String(count) } } };
  objects.mergePatch(USER_DEPLOYMENTS, at, { isStatus: false, dryRun: false, patch });
}

/** One to three objects; their names hold the deployment's, so that deployments never share one. */
function filesFor(rng: Rng, name: string, count: number): Readonly<Record<string, string>> {
  const files = 1 + Math.floor(rng.next() * 3);
  return Object.fromEntries(Array.from({ length: files }, (_, index) => [`${name}-${index}`, `content ${count}`]));
}

/** The path before all edits, so that paths do not grow with each change. */
function firstPathOf(deployment: JsonMap): string {
  return pathOf(deployment).replace(/(-(edited|spoilt)-\d+)+$/, "");
}

export function pathOf(deployment: JsonMap): string {
  const { source } = (deployment["spec"] ?? {}) as { readonly source?: { readonly path?: string } };
  return source?.path ?? "";
}

function pick<T>(rng: Rng, from: readonly T[]): T | undefined {
  return from[Math.floor(rng.next() * from.length)];
}
