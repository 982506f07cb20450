import { it } from "vitest";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { callHarness } from "../harness-client.ts";
import { inSeconds } from "../in-seconds.ts";
import { reflect } from "../reflect.ts";
import {
  conditionOf,
  type DeploymentResource,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type Workspace,
  type World,
} from "../world.ts";

/** What one user of one namespace does, and what that user reads about the deployment `app`. */
export interface Story {
  readonly world: World;
  readonly namespace: string;
  readonly workspace: Workspace;
  /** Commits files to `main` of the story's own repository; an `undefined` file is removed. Returns the commit. */
  push(files: Readonly<Record<string, string | undefined>>): Promise<string>;
  /** Passes this input to `git fast-import --force`: branches, tags, symbolic links, submodules, rewritten history. */
  importGit(stream: string): Promise<void>;
  /** Creates or changes the deployment `app` of the story's own repository. */
  deploy(spec?: DeploySpec): Promise<void>;
  /** Requests a refresh, as users do after a push. */
  refresh(): Promise<void>;
  /** What `Ready` says now: `reason: message`. */
  said(): Promise<string>;
  /** Waits until `Ready` says something that matches. */
  reads(words: RegExp): Promise<string>;
  /** Waits until the deployment is ready, at `revision` if given. */
  ready(revision?: string, timeoutMs?: number): Promise<DeploymentResource>;
  /** Applies an object of the user's own to the namespace. */
  apply(type: ResourceType, object: Readonly<Record<string, unknown>>): Promise<void>;
  get<T extends KubeObject>(type: ResourceType, name: string): Promise<T | undefined>;
  /** Waits until an object of the namespace exists. */
  stands(type: ResourceType, name: string): Promise<KubeObject>;
  /** Waits until an object of the namespace is gone. */
  isGone(type: ResourceType, name: string): Promise<void>;
}

export interface DeploySpec {
  readonly repoURL?: string;
  readonly path?: string;
  readonly targetRevision?: string;
  readonly type?: string;
  readonly name?: string;
  readonly finalizers?: readonly string[];
  readonly destination?: Readonly<Record<string, string>>;
  readonly syncPolicy?: Readonly<Record<string, unknown>>;
}

const FINALIZER = "resources-finalizer.managed-gitops.redhat.com";
const GROUP = "managed-gitops.redhat.com/v1alpha1";

/**
 * Declares a story with its own namespace and repository, which runs beside other stories. The output has what its
 * user read, and when.
 */
export function story(title: string, name: string, tell: (story: Story) => Promise<void>): void {
  it.concurrent(title, async () => {
    const world = openWorld();
    const workspace = await openWorkspace(world, `month-${name}`);
    const notes = await takeNotes(world, workspace.namespace);
    try {
      await tell(storyOf(world, workspace));
    } finally {
      report(`${title}: ${(await notes.close()).join(" | ")}`);
    }
  });
}

function storyOf(world: World, workspace: Workspace): Story {
  const { kube, signal, git } = world;
  const { namespace } = workspace;
  const get = <T extends KubeObject>(type: ResourceType, name: string) => kube.get<T>(type, { namespace, name }, signal);
  const said = async () => readyOf(await workspace.read("app"));
  let refreshes = 0;
  return {
    ...{ world, namespace, workspace, get, said },
    push: (files) => git.commit(namespace, files),
    importGit: async (stream) => void (await callHarness(world.harness, "importGit", { repository: namespace, stream })),
    async deploy({ name = "app", repoURL, path = "app", targetRevision = "main", type = "automated", finalizers, ...rest } = {}) {
      const source = { repoURL: repoURL ?? git.url(namespace), path, targetRevision };
      const metadata = { name, namespace, ...(finalizers === undefined ? {} : { finalizers }) };
      const resource = { apiVersion: GROUP, kind: "GitOpsDeployment", metadata, spec: { source, type, ...rest } };
      await kube.apply(TYPES.deployment, resource, { fieldManager: "user" }, signal);
    },
    async refresh() {
      refreshes += 1;
      await workspace.annotate("app", { "argosy.dev/refreshed-at": String(refreshes) });
    },
    reads: (words) => until(`${namespace}: Ready says ${words}`, said, (text) => words.test(text)),
    async ready(revision, timeoutMs) {
      return (await workspace.settled("app", revision, timeoutMs)) as DeploymentResource;
    },
    async apply(type, object) {
      const metadata = { namespace, ...(object["metadata"] as object) };
      const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
      await kube.apply(
        type,
        { ...object, apiVersion, kind: type.kind, metadata } as unknown as KubeObject,
        { fieldManager: "user" },
        signal,
      );
    },
    async stands(type, name) {
      const there = await until(
        `${namespace}: ${type.kind} ${name}`,
        () => get(type, name),
        (object) => object !== undefined,
      );
      return there as KubeObject;
    },
    async isGone(type, name) {
      await until(
        `${namespace}: no ${type.kind} ${name}`,
        () => get(type, name),
        (object) => object === undefined,
      );
    },
  };
}

function readyOf(resource: DeploymentResource | undefined): string {
  const ready = conditionOf(resource, "Ready");
  return ready === undefined ? "" : `${ready.reason}: ${ready.message ?? ""}`;
}

/** Records each text of `Ready` in a namespace, with the seconds since the story began. */
async function takeNotes(world: World, namespace: string): Promise<{ close(): Promise<readonly string[]> }> {
  const beganAt = performance.now();
  const last = new Map<string, string>();
  const notes: string[] = [];
  const note = (name: string, text: string): void => {
    if (last.get(name) === text) return;
    last.set(name, text);
    notes.push(`${inSeconds(performance.now() - beganAt)} ${name === "app" ? "" : `${name} `}${text}`);
  };
  const deployments = await reflect<DeploymentResource>(world, { type: TYPES.deployment, namespace }, (change) => {
    if (change.kind === "delete") note(change.at.name, "(gone)");
    else if (readyOf(change.now) !== "") note(change.now.metadata.name, readyOf(change.now));
  });
  return {
    async close() {
      await deployments.close();
      notes.push(`${inSeconds(performance.now() - beganAt)} end`);
      return notes;
    },
  };
}

export const WITH_FINALIZER: readonly string[] = [FINALIZER];

const core = (plural: string, kind: string): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced: true });
export const KINDS = {
  ...TYPES,
  quota: core("resourcequotas", "ResourceQuota"),
  pod: core("pods", "Pod"),
  job: { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true },
  workload: { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
  environment: {
    group: "managed-gitops.redhat.com",
    version: "v1alpha1",
    plural: "gitopsdeploymentmanagedenvironments",
    kind: "GitOpsDeploymentManagedEnvironment",
    namespaced: true,
  },
} as const satisfies Readonly<Record<string, ResourceType>>;

/** A manifest file. */
export function manifest(kind: string, name: string, rest: Readonly<Record<string, unknown>> = {}, apiVersion = "v1"): string {
  const { metadata, ...content } = rest as { readonly metadata?: object };
  return JSON.stringify({ apiVersion, kind, metadata: { name, ...metadata }, ...content });
}

/** A Job whose pod ends with this exit code after so long. `hook`: which hook of a sync it is; absent: none. */
export function jobFile(name: string, { exitCode = 0, runMs = 1, hook }: { exitCode?: number; runMs?: number; hook?: string }): string {
  const template = {
    metadata: { annotations: { "dev.argosy/exit-code": String(exitCode), "dev.argosy/run-ms": String(runMs) } },
    spec: { restartPolicy: "Never", containers: [{ name: "job", image: "example.com/job" }] },
  };
  const metadata = hook === undefined ? {} : { annotations: { "argocd.argoproj.io/hook": hook } };
  return manifest("Job", name, { metadata, spec: { backoffLimit: 0, template } }, "batch/v1");
}

/** One commit as git-fast-import(1) reads it. `files`: each path with its mode and content (of a submodule, its commit). */
export function commitOf(
  ref: string,
  files: Readonly<Record<string, { readonly mode?: "100644" | "120000" | "160000"; readonly content: string }>>,
  seconds: number,
): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([path, { mode = "100644", content }]) =>
    mode === "160000" ? `M ${mode} ${content} ${path}\n` : `M ${mode} inline ${path}\n${data(content)}`,
  );
  return `commit ${ref}\ncommitter User <user@localhost> ${seconds} +0000\n${data("a change")}deleteall\n${changes.join("")}\n`;
}

/** The next commit of this branch or tag has no parent: its history is rewritten. */
export function forgotten(ref: string): string {
  return `reset ${ref}\n\n`;
}

/** Removes a branch or a tag. */
export function removalOf(ref: string): string {
  return `reset ${ref}\nfrom 0000000000000000000000000000000000000000\n\n`;
}
