import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { EngineObject } from "../../../domain/engine.ts";
import type { InstanceId } from "../../../domain/ids.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { describeOnApiServers, type Subject } from "../../../runtime/kube/testing/api-servers.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { ManifestParameters } from "../../manifests/parameters.ts";
import { renderManifests } from "../../manifests/render.ts";
import type { EngineClusterPort } from "../../port.ts";
import { eventually } from "../../testing/eventually.ts";
import { someParameters } from "../../testing/parameters.ts";
import { createEngineCluster } from "./engine-cluster.ts";
import { INSTANCE_NAMESPACES, instanceTypeOf } from "./types.ts";

const common = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };

const suite = (_name: string, connect: () => Promise<Subject>): void => {
  const id = randomUUID() as InstanceId;
  const namespace = `argosy-test-${id.slice(0, 8)}`;
  const parameters: ManifestParameters = { ...someParameters(), instance: { ...someParameters().instance, id, namespace } };
  const objects = renderManifests(parameters);
  const place = { id, namespace };
  const abort = new AbortController();
  const { signal } = abort;
  let subject: Subject;
  let cluster: EngineClusterPort;

  beforeAll(async () => {
    subject = await connect();
    cluster = createEngineCluster({ ...common, client: subject.client }, () => undefined, signal);
  });
  afterAll(async () => {
    await subject.client.delete(INSTANCE_NAMESPACES, { namespace: "", name: namespace }, {}, signal);
    abort.abort();
    await subject.close();
  });

  /** Applies until nothing is left to write: a watch may lag a moment behind our own writes. */
  const settle = async (): Promise<readonly string[]> => {
    const first = await cluster.applyObjects(objects, signal);
    await eventually("nothing is left to write", async () => (await cluster.applyObjects(objects, signal)).length === 0);
    return first;
  };

  it("accepts every object of an instance, and writes none of them twice", async () => {
    expect(await cluster.observe(place, signal)).toEqual({ namespace: "absent" });
    expect(await settle()).toHaveLength(objects.length);
    expect(await cluster.observe(place, signal)).toMatchObject({ namespace: "ours" });
  });

  it("writes none of the objects that another process left as they are now, and all of them once one has been edited", async () => {
    const left = await cluster.leftOf(objects);
    if (left === undefined) throw new Error("all were written");
    const adopting = async (wanted: readonly EngineObject[]): Promise<EngineClusterPort> => {
      const another = createEngineCluster({ ...common, client: subject.client }, () => undefined, signal);
      expect(await another.leftOf(wanted)).toBeUndefined();
      await another.adoptObjects(wanted, left, signal);
      return another;
    };
    const heir = await adopting(objects);
    expect(await heir.leftOf(objects)).toBe(left);
    expect(await heir.applyObjects(objects, signal)).toEqual([]);
    const others = renderManifests({ ...parameters, engine: { ...parameters.engine, statusProcessors: 7 } });
    expect(await (await adopting(others)).leftOf(others)).toBeUndefined();
    const at = { namespace, name: "argocd-cm" };
    await subject.client.mergePatch(instanceTypeOf("ConfigMap"), at, { data: { "kustomize.buildOptions": "--edited" } }, signal);
    expect(await (await adopting(objects)).leftOf(objects)).toBeUndefined();
    await subject.client.delete(instanceTypeOf("ConfigMap"), at, {}, signal);
    expect(await (await adopting(objects)).leftOf(objects)).toBeUndefined();
    await settle();
  });

  it.each([
    ["Secret", "argocd-redis"],
    ["ConfigMap", "argocd-cm"],
    ["NetworkPolicy", "argocd-default-deny"],
    ["Role", "argocd-application-controller"],
    ["Service", "argocd-repo-server"],
    ["ResourceQuota", "argosy-instance"],
  ])("writes a deleted %s again, and nothing else", async (kind, name) => {
    await subject.client.delete(instanceTypeOf(kind), { namespace, name }, {}, signal);
    let written: readonly string[] = [];
    await eventually("it is there again", async () => {
      written = await cluster.applyObjects(objects, signal);
      return written.length > 0;
    });
    expect(written).toEqual([`${kind}/${name}`]);
    await settle();
  });

  it("sees which instance a namespace belongs to", async () => {
    expect(await cluster.observe({ ...place, id: "another" as InstanceId }, signal)).toEqual({ namespace: "foreign", owner: id });
    expect(await cluster.observe({ ...place, namespace: "default" }, signal)).toEqual(
      _name === "the fake" ? { namespace: "absent" } : { namespace: "foreign", owner: undefined },
    );
  });

  it("deletes a namespace only for the instance it belongs to", async () => {
    await cluster.deleteNamespace({ ...place, id: "another" as InstanceId }, signal);
    expect(await cluster.observe(place, signal)).toMatchObject({ namespace: "ours" });
    expect(await cluster.deleteNamespace(place, signal)).toEqual({ kind: "deleting" });
    await eventually("the namespace is gone", async () =>
      ["terminating", "absent"].includes((await cluster.observe(place, signal)).namespace),
    );
  });
};

describeOnApiServers("an engine cluster on %s", suite);
