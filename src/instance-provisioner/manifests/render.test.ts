import { describe, expect, it } from "vitest";
import type { EngineObject } from "../../domain/engine.ts";
import { someParameters } from "../testing/parameters.ts";
import type { ManifestParameters } from "./parameters.ts";
import { parseQuantity, renderCpu, renderMemory } from "./quantity.ts";
import { manifestHash, renderManifests } from "./render.ts";
import { compareVersions, hasMutualTls } from "./version.ts";

const objects = renderManifests(someParameters());
const find = (kind: string, name: string, list: readonly EngineObject[] = objects): Readonly<Record<string, unknown>> | undefined =>
  list.find((object) => object.kind === kind && object.metadata.name === name);

function withEngine(engine: Partial<ManifestParameters["engine"]>): ManifestParameters {
  const parameters = someParameters();
  return { ...parameters, engine: { ...parameters.engine, ...engine } };
}

const annotationsOf = (list: readonly EngineObject[]): readonly string[] =>
  list.flatMap((object) => {
    const template = (
      object["spec"] as
        | { readonly template?: { readonly metadata: { readonly annotations: Readonly<Record<string, string>> } } }
        | undefined
    )?.template;
    return template === undefined ? [] : [template.metadata.annotations["argosy.dev/settings-hash"] ?? ""];
  });

describe("an instance's objects", () => {
  it("hold no right outside its namespace and none over it all", () => {
    expect(objects.filter((object) => object.kind.startsWith("Cluster"))).toEqual([]);
    expect(objects.filter((object) => object.kind !== "Namespace" && object.metadata.namespace !== "argosy-standard-1")).toEqual([]);
    expect(JSON.stringify(objects.filter((object) => object.kind === "Role"))).not.toContain("*");
  });

  it("are found by one label, which the reconciler's objects do not carry", () => {
    for (const object of objects) {
      expect(object.metadata.labels?.["argosy.dev/instance"]).toBe(someParameters().instance.id);
      expect(object.metadata.labels?.["app.kubernetes.io/managed-by"]).toBe("argosy-provisioner");
    }
  });

  it("come before the pods that need them", () => {
    const kinds = objects.map((object) => object.kind);
    const firstPod = Math.min(kinds.indexOf("Deployment"), kinds.indexOf("StatefulSet"));
    expect(kinds[0]).toBe("Namespace");
    expect(kinds.slice(firstPod).filter((kind) => kind !== "Deployment" && kind !== "StatefulSet")).toEqual([]);
    expect(objects.slice(-3).map((object) => object.metadata.name)).toEqual([
      "argocd-redis",
      "argocd-repo-server",
      "argocd-application-controller",
    ]);
  });

  it("replace the pods when something changes that is read only at the start", () => {
    const before = annotationsOf(objects);
    expect(new Set(before).size).toBe(1);
    const other = someParameters();
    const changes = [
      withEngine({ statusProcessors: 21 }),
      withEngine({ reconciliationSeconds: 60 }),
      { ...other, secrets: { ...other.secrets, redisPassword: "other" } },
    ];
    for (const parameters of changes) expect(annotationsOf(renderManifests(parameters))).not.toEqual(before);
  });

  it("leave the pods alone when something changes that is read live", () => {
    const parameters = { ...someParameters(), egressAllow: [] };
    expect(annotationsOf(renderManifests(parameters))).toEqual(annotationsOf(objects));
    expect(manifestHash(parameters)).not.toBe(manifestHash(someParameters()));
  });

  it("are compared without their secrets", () => {
    const other = someParameters();
    expect(manifestHash({ ...other, secrets: { ...other.secrets, redisPassword: "other" } } as never)).toBe(manifestHash(someParameters()));
  });

  it("let in and out only the flows an instance lives from", () => {
    const policy = (name: string) =>
      (find("NetworkPolicy", name)?.["spec"] ?? {}) as {
        readonly podSelector: unknown;
        readonly ingress: unknown[];
        readonly egress: { readonly to: unknown[] }[];
      };
    expect(policy("argocd-default-deny")).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"], ingress: [], egress: [] });
    expect(policy("argocd-redis").egress).toEqual([]);
    expect(JSON.stringify(policy("argocd-redis").ingress)).toContain("argocd-repo-server");
    const world = policy("argocd-repo-server").egress.at(-1)?.to;
    expect(world).toContainEqual({ ipBlock: { cidr: "10.1.0.0/16" } });
    expect(world?.[0]).toMatchObject({
      ipBlock: {
        cidr: "0.0.0.0/0",
        except: expect.arrayContaining(["10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"]),
      },
    });
  });

  it("forbid in the settings what would lead out of a tenant's reach", () => {
    expect(find("ConfigMap", "argocd-cm")?.["data"]).toMatchObject({
      "cluster.inClusterEnabled": "false",
      "application.sync.impersonation.enabled": "true",
      "application.resourceTrackingMethod": "annotation",
      "kustomize.buildOptions": "",
      "helm.valuesFileSchemes": "",
      "jsonnet.enable": "false",
      "resource.exclusions": expect.stringContaining('["argoproj.io"]'),
    });
  });

  it("know mutual TLS from 3.5 on, and check the certificate of repo-server before too", () => {
    const older = renderManifests(someParameters("3.4.7"));
    expect(find("Secret", "argocd-repo-server-mtls")).toBeDefined();
    expect(find("Secret", "argocd-repo-server-mtls", older)).toBeUndefined();
    expect(find("ConfigMap", "argocd-cmd-params-cm", older)?.["data"]).toMatchObject({ "controller.repo.server.strict.tls": "true" });
    expect([hasMutualTls("3.5.0"), hasMutualTls("3.4.99"), hasMutualTls("4.0.0")]).toEqual([true, false, true]);
  });

  it("leave a quota room for one more repo-server while it is replaced", () => {
    const spec = find("ResourceQuota", "argosy-instance")?.["spec"];
    expect(spec).toMatchObject({ hard: { pods: "6", "limits.cpu": "6500m", "limits.memory": "10752Mi", "services.loadbalancers": "0" } });
  });
});

describe("amounts and releases", () => {
  it("are read as Kubernetes reads them", () => {
    expect(["500m", "2", "1.5", "1Ki", "4Gi", "1G"].map(parseQuantity)).toEqual([0.5, 2, 1.5, 1024, 4 * 2 ** 30, 1e9]);
    expect(["", "-1", "1 Gi", "Gi", "1e3", "1Zi"].map(parseQuantity)).toEqual(Array.from({ length: 6 }));
    expect([renderCpu(1.5), renderCpu(2), renderMemory(2 ** 30), renderMemory(1536), renderMemory(1.5)]).toEqual([
      "1500m",
      "2",
      "1Gi",
      "1536",
      "2",
    ]);
  });
  it("are ordered part by part, and what is no release comes first", () => {
    expect(["3.5.10", "3.10.0", "3.5.7", "latest", "3.5.7-rc1"].toSorted(compareVersions)).toEqual([
      "latest",
      "3.5.7-rc1",
      "3.5.7",
      "3.5.10",
      "3.10.0",
    ]);
  });
});
