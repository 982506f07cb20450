import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { GoneError, StaleError } from "../../../domain/errors.ts";
import { USER_FINALIZER } from "../../../domain/names.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { NAMESPACES } from "../../../runtime/kube/namespaces.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import { describeOnApiServers, type Subject } from "../../../runtime/kube/testing/api-servers.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { renderCrds } from "../../api/crd.ts";
import type { ResourceChange, UserResources } from "../../port.ts";
import { aSpec } from "../../testing/builders.ts";
import { eventually } from "../../testing/world.ts";
import { createUserResources, USER_DEPLOYMENTS } from "./user-resources.ts";

const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const common = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
const never = new AbortController().signal;

async function prepare(client: KubeClient): Promise<void> {
  for (const crd of renderCrds()) await client.apply(definitions, crd, { fieldManager: "contract" }, never);
  await vi.waitFor(() => client.listPage(USER_DEPLOYMENTS, {}, never), { timeout: 30_000 });
}

const suite = (_: string, start: () => Promise<Subject>): void => {
  let subject: Subject;
  let resources: UserResources;
  let abort: AbortController;
  let count = 0;
  let namespace = "";
  const changes: ResourceChange[] = [];
  beforeAll(async () => {
    subject = await start();
    abort = new AbortController();
    resources = createUserResources({ ...common, client: subject.client });
    resources.subscribe((change) => changes.push(change));
    resources.start(abort.signal);
    await resources.synced(never);
  });
  afterAll(async () => {
    abort.abort(new Error("done"));
    await resources.stopped();
    await subject.close();
  });
  afterEach(async () => {
    for (const resource of resources.deployments(namespace))
      await subject.client.mergePatch(USER_DEPLOYMENTS, resource, { metadata: { finalizers: null } }, never).catch(() => {});
    await subject.client.delete(NAMESPACES, { namespace: "", name: namespace }, {}, never);
  });

  const at = (name = "guestbook") => ({ namespace, name });
  const seen = (name = "guestbook") => resources.deployment(at(name));
  const changesOf = (name = "guestbook") =>
    changes.filter((change) => change.kind === "deployment" && change.at.namespace === namespace && change.at.name === name);
  const read = () =>
    subject.client.get<KubeObject & { readonly status?: Readonly<Record<string, unknown>> }>(USER_DEPLOYMENTS, at(), never);

  async function apply(over: Readonly<Record<string, unknown>> = {}, metadata: Readonly<Record<string, unknown>> = {}) {
    const resource = {
      apiVersion: "managed-gitops.redhat.com/v1alpha1",
      kind: "GitOpsDeployment",
      metadata: { ...at(), ...metadata },
      spec: aSpec(over),
    };
    return subject.client.apply<KubeObject>(USER_DEPLOYMENTS, resource, { fieldManager: "jane" }, never);
  }
  async function created(metadata: Readonly<Record<string, unknown>> = {}) {
    count += 1;
    namespace = `resources-contract-${process.pid}-${count}`;
    await subject.client.create(
      NAMESPACES,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: { team: "jane" } } },
      never,
    );
    const resource = await apply({}, metadata);
    await eventually("it is seen", () => seen()?.uid === resource.metadata.uid && resources.namespace(namespace) !== undefined);
    return { ...at(), uid: resource.metadata.uid ?? "" };
  }
  const aStatus = (reason: string, over: Readonly<Record<string, unknown>> = {}) => ({
    observedGeneration: 1,
    conditions: [
      {
        type: "Ready",
        status: "False",
        reason,
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
        lastProbeTime: "2026-01-01T00:00:00Z",
      },
    ],
    reconciledState: { source: { path: "", repoURL: "", branch: "" }, destination: { name: "", namespace: "" } },
    ...over,
  });

  it("are seen with what is needed of them, as are namespaces", async () => {
    const { uid } = await created({
      finalizers: [USER_FINALIZER],
      annotations: { "argosy.dev/paused": "true", "argosy.dev/refreshed-at": "now" },
    });
    expect(seen()).toMatchObject({
      ...at(),
      uid,
      generation: 1,
      spec: aSpec(),
      isPaused: true,
      refreshedAt: expect.stringMatching(/^[0-9a-f]{16}$/),
      isDeleting: false,
      isHeld: true,
      conditions: [],
      observedGeneration: undefined,
    });
    expect(resources.namespace(namespace)).toMatchObject({ name: namespace, labels: { team: "jane" }, isDeleting: false });
    expect(resources.deployments(namespace)).toHaveLength(1);
    expect(resources.deployments().length).toBeGreaterThanOrEqual(1);
    expect(await resources.readUid(at(), never)).toBe(uid);
    expect(await resources.readUid(at("nobody"), never)).toBeUndefined();
    expect(await resources.readNamespaceUid(namespace, never)).toBe(resources.namespace(namespace)?.uid);
    expect(resources.stalenessMs()).toBeLessThan(300_000);
  });

  it("are reported when their user changes something, and not when we write their status", async () => {
    const resource = await created();
    const before = changesOf().length;
    await resources.patchStatus(resource, aStatus("First"), never);
    await eventually("the status is seen", () => seen()?.conditions[0]?.reason === "First");
    await apply({ type: "manual" });
    await eventually("the change is seen", () => seen()?.generation === 2);
    expect(changesOf().length).toBe(before + 1);
    expect(changesOf().at(-1)).toMatchObject({ uids: [resource.uid] });
  });

  it("show a status from the moment it is written, and lose what is left out of the next", async () => {
    const resource = await created();
    await resources.patchStatus(
      resource,
      aStatus("First", {
        sync: { status: "Synced", revision: "1" },
        operationState: { phase: "Running", syncResult: { resources: [{ name: "a" }] } },
      }),
      never,
    );
    expect(seen()).toMatchObject({ observedGeneration: 1, conditions: [{ reason: "First" }] });
    await resources.patchStatus(resource, aStatus("Second"), never);
    expect(seen()).toMatchObject({ conditions: [{ reason: "Second" }] });
    expect((await read())?.status).toEqual(aStatus("Second"));
    // The same again is no change, and is seen all the same.
    const version = (await read())?.metadata.resourceVersion;
    await resources.patchStatus(resource, aStatus("Second"), never);
    expect((await read())?.metadata.resourceVersion).toBe(version);
    await eventually("the watch has caught up", () => seen()?.conditions[0]?.reason === "Second");
  });

  it("refuse a status for one that is gone, that changed or that has another's name", async () => {
    const resource = await created();
    await expect(resources.patchStatus({ ...resource, uid: "another" }, aStatus("X"), never)).rejects.toThrow(StaleError);
    const held = seen();
    await subject.client.mergePatch(USER_DEPLOYMENTS, at(), { metadata: { labels: { changed: "yes" } } }, never);
    // Either the watch was faster than we are here, or the version is refused.
    await resources.patchStatus(resource, aStatus("X"), never).catch((error: unknown) => expect(error).toBeInstanceOf(StaleError));
    await subject.client.delete(USER_DEPLOYMENTS, at(), {}, never);
    const refusal = resources.patchStatus({ ...resource, uid: held?.uid ?? "" }, aStatus("X"), never);
    await expect(
      refusal.catch((error: unknown) => (error instanceof GoneError || error instanceof StaleError ? "refused" : error)),
    ).resolves.toBe("refused");
  });

  it("are let go by their finalizer, others' stay, and doing it twice does no harm", async () => {
    const resource = await created({ finalizers: ["example.com/first", USER_FINALIZER] });
    await subject.client.delete(USER_DEPLOYMENTS, at(), {}, never);
    await eventually("the deletion is seen", () => seen()?.isDeleting === true);
    await resources.removeFinalizer({ ...resource, uid: "another" }, never);
    expect((await read())?.metadata.finalizers).toEqual(["example.com/first", USER_FINALIZER]);
    await resources.removeFinalizer(resource, never);
    await resources.removeFinalizer(resource, never);
    expect((await read())?.metadata.finalizers).toEqual(["example.com/first"]);
    await eventually("it is seen", () => seen()?.isHeld === false);
    await subject.client.mergePatch(USER_DEPLOYMENTS, at(), { metadata: { finalizers: null } }, never);
    await eventually("its end is seen", () => seen() === undefined);
    expect(changesOf().at(-1)).toMatchObject({ uids: [resource.uid] });
    await resources.removeFinalizer(resource, never);
  });

  it("that come back under their name name both uids, or each on its own", async () => {
    const resource = await created();
    await subject.client.delete(USER_DEPLOYMENTS, at(), {}, never);
    const next = await apply();
    await eventually("the new one is seen", () => seen()?.uid === next.metadata.uid);
    const uids = changesOf().flatMap((change) => (change.kind === "deployment" ? change.uids : []));
    expect(new Set(uids)).toEqual(new Set([resource.uid, next.metadata.uid]));
    expect(seen()?.conditions).toEqual([]);
  });
};

describeOnApiServers("users' resources on %s", suite, { prepare });
