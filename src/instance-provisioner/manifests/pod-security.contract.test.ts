import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceId } from "../../domain/ids.ts";
import { systemClock } from "../../runtime/clock.ts";
import { loadKubeconfig } from "../../runtime/kube/auth.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createKubeClient } from "../../runtime/kube/http.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { realApiServer } from "../../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../runtime/rng.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { INSTANCE_NAMESPACES, instanceTypeOf, PODS } from "../adapters/kubernetes/types.ts";
import { someParameters } from "../testing/parameters.ts";
import { renderManifests } from "./render.ts";

const kubeconfig = await realApiServer();
const FIRST = ["Namespace", "ServiceAccount", "ResourceQuota", "LimitRange"];

type Template = { readonly metadata: Readonly<Record<string, unknown>>; readonly spec: Readonly<Record<string, unknown>> };

describe.skipIf(kubeconfig === undefined).each(["3.3.14", "3.5.7"])("pods of Argo CD %s in their instance's namespace", (version) => {
  const signal = AbortSignal.timeout(120_000);
  const id = randomUUID() as InstanceId;
  const namespace = `argosy-confined-${id.slice(0, 8)}`;
  const filter = { image: "images.example/argosy:1", server: "https://api.example", caData: "" };
  const objects = renderManifests({ ...someParameters(version), filter, instance: { ...someParameters().instance, id, namespace } });
  const templates = objects.flatMap((object) => {
    const { template } = (object["spec"] ?? {}) as { readonly template?: Template };
    return template === undefined ? [] : [{ name: object.metadata.name, template }];
  });
  let client: KubeClient;
  beforeAll(async () => {
    const common = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
    client = createKubeClient({ ...common, cluster: "real", credentials: loadKubeconfig({ file: kubeconfig ?? "" }) });
    for (const object of objects.filter(({ kind }) => FIRST.includes(kind)))
      await client.apply(instanceTypeOf(object.kind), object as KubeObject, { fieldManager: "test" }, signal);
  });
  afterAll(async () => {
    await client.delete(INSTANCE_NAMESPACES, { namespace: "", name: namespace }, {}, signal);
    await client.close();
  });

  const admit = ({ name, template }: (typeof templates)[number], change: Readonly<Record<string, unknown>> = {}) => {
    const spec = { ...template.spec, ...change };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name, namespace }, spec };
    return client.apply<KubeObject>(PODS, pod as unknown as KubeObject, { fieldManager: "test", dryRun: true }, signal);
  };

  it("are admitted by its restricted pod security level, each of them", async () => {
    expect(templates.map(({ name }) => name).sort()).toEqual(["argocd-application-controller", "argocd-redis", "argocd-repo-server"]);
    for (const each of templates) expect((await admit(each)).metadata.name).toBe(each.name);
  });

  it.each([
    ["uses the host's network", { hostNetwork: true }],
    ["may run as root", { securityContext: { runAsNonRoot: false, runAsUser: 0 } }],
    ["has the host's files", { volumes: [{ name: "host", hostPath: { path: "/" } }] }],
  ])("would be refused if one %s", async (_what, change) => {
    const [one] = templates;
    if (one === undefined) throw new Error("there is no workload");
    const [container] = one.template.spec["containers"] as readonly Readonly<Record<string, unknown>>[];
    const { securityContext: _confined, volumeMounts: _mounts, ...open } = container ?? {};
    await expect(admit(one, { ...change, containers: [open] })).rejects.toThrow(/./);
    await expect(admit(one, { ...change, containers: [open] })).rejects.toMatchObject({ cause: expect.anything() });
  });
});
