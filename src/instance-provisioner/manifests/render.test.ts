import { describe, expect, it } from "vitest";
import type { EngineObject } from "../../domain/engine.ts";
import { parseQuantity, renderCpu, renderMemory } from "../../domain/quantity.ts";
import { compareVersions } from "../../domain/version.ts";
import { someParameters } from "../testing/parameters.ts";
import type { PodTemplate } from "./kubernetes-types.ts";
import type { ManifestParameters } from "./parameters.ts";
import { manifestHash, renderManifests } from "./render.ts";
import { hasMutualTls } from "./version.ts";

const objects = renderManifests(someParameters());
const find = (kind: string, name: string, list: readonly EngineObject[] = objects): Readonly<Record<string, unknown>> | undefined =>
  list.find((object) => object.kind === kind && object.metadata.name === name);

type Changed = (of: ManifestParameters) => ManifestParameters;
const withEngine =
  (engine: Partial<ManifestParameters["engine"]>): Changed =>
  (of) => ({ ...of, engine: { ...of.engine, ...engine } });
const withResources =
  (resources: Partial<ManifestParameters["resources"]>): Changed =>
  (of) => ({ ...of, resources: { ...of.resources, ...resources } });
const withSecrets =
  (secrets: Partial<ManifestParameters["secrets"]>): Changed =>
  (of) => ({ ...of, secrets: { ...of.secrets, ...secrets } });

/** The pod template of each workload. When it changes, the pods are replaced. */
function templatesOf(list: readonly EngineObject[]): ReadonlyMap<string, string> {
  return new Map(
    list.flatMap((object) => {
      const template = (object["spec"] as { readonly template?: unknown } | undefined)?.template;
      return template === undefined ? [] : [[object.metadata.labels?.["app.kubernetes.io/component"] ?? "", JSON.stringify(template)]];
    }) as [string, string][],
  );
}

describe("an instance's objects", () => {
  it("grant no right outside its namespace, and no wildcard within", () => {
    expect(objects.filter((object) => object.kind.startsWith("Cluster"))).toEqual([]);
    expect(objects.filter((object) => object.kind !== "Namespace" && object.metadata.namespace !== "argosy-standard-1")).toEqual([]);
    expect(JSON.stringify(objects.filter((object) => object.kind === "Role"))).not.toContain("*");
  });

  it("carry one label that the reconciler's objects do not", () => {
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

  it.each<[string, (of: ManifestParameters) => ManifestParameters, readonly string[]]>([
    ["how many applications are compared at once", withEngine({ statusProcessors: 21 }), ["application-controller"]],
    ["the rate of requests to API servers", withEngine({ k8sClientQps: 21 }), ["application-controller"]],
    ["the time between two comparisons", withEngine({ reconciliationSeconds: 60 }), ["repo-server", "application-controller"]],
    ["its random part", withEngine({ reconciliationJitterSeconds: 1 }), ["application-controller"]],
    ["the controller's memory", withResources({ controller: { cpu: "2", memory: "8Gi" } }), ["application-controller"]],
    ["repo-server's memory", withResources({ repoServer: { cpu: "1", memory: "2Gi", replicas: 1 } }), ["repo-server"]],
    ["repo-server's disk", withResources({ repoServer: { cpu: "1", memory: "1Gi", replicas: 1, disk: "1Gi" } }), ["repo-server"]],
    ["the number of repo-servers", withResources({ repoServer: { cpu: "1", memory: "1Gi", replicas: 2 } }), []],
    ["redis' memory", withResources({ redis: { cpu: "250m", memory: "512Mi" } }), ["redis"]],
    [
      "the image of Argo CD",
      (of) => ({ ...of, release: { ...of.release, image: "images.example/argocd:other" } }),
      ["repo-server", "application-controller"],
    ],
    ["the image of redis", (of) => ({ ...of, release: { ...of.release, redisImage: "images.example/redis:9" } }), ["redis"]],
    ["the password of redis", withSecrets({ redisPassword: "other" }), ["redis", "repo-server", "application-controller"]],
    ["addresses that may be reached", (of) => ({ ...of, egressAllow: [] }), []],
    ["the key of a server that does not run", withSecrets({ serverSecretKey: "other" }), []],
  ])("replace exactly the pods that read %s at their start", (_what, change, replaced) => {
    const [before, after] = [templatesOf(objects), templatesOf(renderManifests(change(someParameters())))];
    expect([...before.keys()].filter((name) => before.get(name) !== after.get(name))).toEqual(replaced);
  });

  it("limit what each pod may have on its node's disk to its volumes and a little more, and request none of it", () => {
    const diskOf = (change: (of: ManifestParameters) => ManifestParameters) => {
      const templates = renderManifests(change(someParameters())).flatMap((object) => {
        const { template } = (object["spec"] ?? {}) as { readonly template?: PodTemplate };
        return template === undefined ? [] : [{ name: object.metadata.name, container: template.spec?.containers[0] }];
      });
      const amounts = templates.map(({ name, container }) => ({ name, ...container?.resources }));
      return amounts.map(({ name, requests, limits }) => [name, requests?.["ephemeral-storage"], limits?.["ephemeral-storage"]]);
    };
    const usual = [
      ["argocd-redis", undefined, undefined],
      ["argocd-repo-server", "0", "23617Mi"],
      ["argocd-application-controller", "0", "4Gi"],
    ];
    expect(diskOf((of) => of)).toEqual(usual);
    const small = withResources({ repoServer: { cpu: "1", memory: "1Gi", replicas: 1, disk: "200Mi" } });
    expect(diskOf(small)[1]).toEqual(["argocd-repo-server", "0", "3337Mi"]);
  });

  it("have another hash when anything changes in them", () => {
    expect(manifestHash({ ...someParameters(), egressAllow: [] })).not.toBe(manifestHash(someParameters()));
  });

  it("have a hash that leaves secrets out", () => {
    const other = someParameters();
    expect(manifestHash({ ...other, secrets: { ...other.secrets, redisPassword: "other" } } as never)).toBe(manifestHash(someParameters()));
  });

  it("allow only the network flows that an instance needs", () => {
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

  it("keep a controller from private addresses that are not declared, whatever a user's host name resolves to", () => {
    const egress = (name: string) => {
      const { egress: flows } = (find("NetworkPolicy", name)?.["spec"] ?? {}) as { readonly egress: { readonly to: readonly unknown[] }[] };
      return flows.at(-1)?.to ?? [];
    };
    const [v4, v6, ...declared] = egress("argocd-application-controller");
    expect(v4).toMatchObject({ ipBlock: { except: expect.arrayContaining(["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16"]) } });
    expect(v6).toEqual({ ipBlock: { cidr: "2000::/3", except: ["2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16"] } });
    expect(declared).toEqual([{ ipBlock: { cidr: "10.0.0.1/32" } }, { ipBlock: { cidr: "10.1.0.0/16" } }]);
    // repo-server reads Git, and no repository is on an API server.
    expect(JSON.stringify(egress("argocd-repo-server"))).not.toContain("10.0.0.1/32");
  });

  it("S7: switch off settings by which a tenant could reach beyond its own objects", () => {
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

  it("end each request of a controller to an API server, but no sooner than it is sent two bookmarks", () => {
    for (const version of ["3.5.7", "3.3.14"]) {
      const objects = renderManifests(someParameters(version));
      expect(find("ConfigMap", "argocd-cmd-params-cm", objects)?.["data"]).toMatchObject({ "controller.k8s.server.side.timeout": "3m" });
      expect(JSON.stringify(find("StatefulSet", "argocd-application-controller", objects))).toContain("ARGOCD_K8S_SERVER_SIDE_TIMEOUT");
    }
  });

  it("S6: let nobody log in as administrator, use mutual TLS from 3.5 on, and check repo-server's certificate also before that", () => {
    const older = renderManifests(someParameters("3.4.7"));
    expect(find("ConfigMap", "argocd-cm")?.["data"]).toMatchObject({ "admin.enabled": "false" });
    expect(find("Deployment", "argocd-server")).toBeUndefined();
    expect(find("Secret", "argocd-repo-server-mtls")).toBeDefined();
    expect(find("Secret", "argocd-repo-server-mtls", older)).toBeUndefined();
    expect(find("ConfigMap", "argocd-cmd-params-cm", older)?.["data"]).toMatchObject({ "controller.repo.server.strict.tls": "true" });
    expect([hasMutualTls("3.5.0"), hasMutualTls("3.4.99"), hasMutualTls("4.0.0")]).toEqual([true, false, true]);
  });

  it("have a quota with room for one more repo-server while one is replaced", () => {
    const spec = find("ResourceQuota", "argosy-instance")?.["spec"];
    expect(spec).toMatchObject({ hard: { pods: "6", "limits.cpu": "6500m", "limits.memory": "10752Mi", "services.loadbalancers": "0" } });
  });

  it("lower the quota once the pods are smaller, and admit pods of the new size until then", () => {
    const hardWith = (used: Readonly<Record<string, string>>) => {
      const quota = { hard: { pods: "9", "limits.cpu": "12", "limits.memory": "20Gi" }, used };
      return renderManifests({ ...someParameters(), quota }).find(({ kind }) => kind === "ResourceQuota")?.["spec"];
    };
    const small = { pods: "6", "limits.cpu": "6500m", "limits.memory": "10752Mi" };
    expect(hardWith({ pods: "3", "limits.cpu": "2", "limits.memory": "12Gi" })).toMatchObject({
      hard: { ...small, "limits.memory": "20Gi" },
    });
    expect(hardWith({ pods: "3", "limits.cpu": "8500m", "limits.memory": "1Gi" })).toMatchObject({
      hard: { ...small, "limits.cpu": "12" },
    });
    const steady = find("ResourceQuota", "argosy-instance", renderManifests({ ...someParameters(), quota: { hard: {}, used: {} } }))?.[
      "spec"
    ];
    expect(steady).toMatchObject({ hard: small });
    expect(hardWith({ pods: "3", "limits.cpu": "3250m", "limits.memory": "5376Mi" })).toMatchObject({ hard: small });
  });
});

describe("amounts and releases", () => {
  it("are parsed as by Kubernetes", () => {
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
  it("are ordered part by part, and a text that is no release comes first", () => {
    expect(["3.5.10", "3.5.7-10", "3.10.0", "3.5.7-2", "3.5.7", "latest", "3.5.7-rc1"].toSorted(compareVersions)).toEqual([
      "latest",
      "3.5.7-rc1",
      "3.5.7",
      "3.5.7-2",
      "3.5.7-10",
      "3.5.10",
      "3.10.0",
    ]);
  });
});

describe("how an instance trusts Git hosts", () => {
  const certificates = "-----BEGIN CERTIFICATE-----";
  const trust = {
    certificateAuthorities: [{ host: "git.inside.example", certificates }],
    sshKnownHosts: "git.inside.example ssh-ed25519 AAAA",
  };
  const dataOf = (name: string, list?: readonly EngineObject[]) =>
    (find("ConfigMap", name, list) as { readonly data?: Readonly<Record<string, string>> }).data;

  it("is as declared, with the host keys of the large public hosts", () => {
    const declared = renderManifests({ ...someParameters(), trust });
    expect(dataOf("argocd-tls-certs-cm", declared)).toEqual({ "git.inside.example": certificates });
    const hosts = dataOf("argocd-ssh-known-hosts-cm", declared)?.["ssh_known_hosts"] ?? "";
    expect(hosts).toBe(`${dataOf("argocd-ssh-known-hosts-cm")?.["ssh_known_hosts"]}git.inside.example ssh-ed25519 AAAA\n`);
  });

  it("replaces no pod: it is read with each connection to a host", () => {
    const workloads = (list: readonly EngineObject[]) => list.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
    expect(workloads(renderManifests({ ...someParameters(), trust }))).toEqual(workloads(objects));
  });

  it("never lets one workspace read from a cache what another workspace's credential has fetched", () => {
    expect(dataOf("argocd-cmd-params-cm")?.["reposerver.revision.cache.lock.timeout"]).toBe("0s");
    expect(JSON.stringify(find("Deployment", "argocd-repo-server"))).toContain('"ARGOCD_REVISION_CACHE_LOCK_TIMEOUT"');
  });
});
