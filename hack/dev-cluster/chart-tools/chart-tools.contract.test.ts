import { execFileSync } from "node:child_process";
import process from "node:process";
import { beforeAll, describe, expect, it } from "vitest";
import { InputError } from "../../../src/domain/errors.ts";
import { API_VERSIONS } from "./api-versions.ts";
import { type ChartTools, provideChartTools } from "./chart-tools.ts";
import { checkManifests } from "./check-manifests.ts";

const { signal } = new AbortController();
const tools = await provideChartTools({}, signal).catch((error: unknown) => {
  if (!(error instanceof InputError)) throw error;
  process.stdout.write(`contract: the tools of the chart are not tried: ${error.message}: ${error.remedy}\n`);
  return undefined;
});

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: { name: shop }
spec:
  replicas: 2
  selector: { matchLabels: { app: shop } }
  template:
    metadata: { labels: { app: shop } }
    spec:
      containers:
        - name: shop
          image: argosy.dev/shop:1
          ports: [{ name: http, containerPort: 8080 }]
          livenessProbe: { httpGet: { port: http } }
          resources: { requests: { cpu: 1, memory: 64Mi } }
`;

const OTHERS = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: shop }
spec: { maxUnavailable: 50%, selector: { matchLabels: { app: shop } } }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: shop }
spec: { podSelector: {}, ingress: [{ ports: [{ port: http }, { port: 8080 }] }] }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: shop }
spec:
  matchConstraints: { resourceRules: [{ apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE] }] }
  validations: [{ expression: object.spec.replicas < 5 }]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: tills.shop.dev }
spec:
  group: shop.dev
  scope: Namespaced
  names: { kind: Till, plural: tills }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: { drawer: { type: object, properties: { coins: { type: integer, minimum: 0, default: 3 } } } }
`;

const MONITORS = `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: { name: shop }
spec: { anything: goes }
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMoniter
metadata: { name: misspelt }
`;

describe.skipIf(tools === undefined)("the tools of the chart", () => {
  let given: ChartTools;
  beforeAll(() => {
    given = tools as ChartTools;
  });

  it("are Helm 3 and Helm 4", () => {
    expect(execFileSync(given.helm3, ["version", "--short"], { encoding: "utf8" })).toMatch(/^v3\./);
    expect(execFileSync(given.helm4, ["version", "--short"], { encoding: "utf8" })).toMatch(/^v4\./);
  });

  describe.each(API_VERSIONS.map(({ minor }) => minor))("hold manifests against Kubernetes %s", (kubernetes) => {
    const check = (manifests: string) => checkManifests(given, { kubernetes, manifests }, signal);

    it("which find nothing wrong with what is right", async () => {
      expect(await check(`${DEPLOYMENT}---\n${OTHERS}`)).toEqual({ valid: 5, skipped: 0, problems: [] });
    });

    it.each([
      ["a misspelt field", "replicas: 2", "replicsa: 2", "apps/v1 Deployment shop: /spec: additional properties 'replicsa' not allowed"],
      [
        "a wrong type far inside",
        "containerPort: 8080",
        "containerPort: http",
        "apps/v1 Deployment shop: /spec/template/spec/containers/0/ports/0/containerPort: got string, want integer",
      ],
      ["a value that is forgotten", "replicas: 2", "replicas:", "apps/v1 Deployment shop: /spec/replicas: got null, want integer"],
      ["a version that is not served", "apps/v1\n", "apps/v1beta1\n", "apps/v1beta1 Deployment shop: could not find schema for Deployment"],
      ["a key that is there twice", "replicas: 2", "replicas: 2\n  replicas: 3", expect.stringContaining(`key "replicas" already set`)],
    ])("which find %s", async (_what, right, wrong, problem) => {
      expect(await check(DEPLOYMENT.replace(right, wrong))).toEqual({ valid: 0, skipped: 0, problems: [problem] });
    });

    it("which find a misspelt field of a type that contains itself", async () => {
      const at = "/spec/versions/0/schema/openAPIV3Schema/properties/drawer/properties/coins";
      expect(await check(OTHERS.replace("minimum: 0", "minimun: 0"))).toEqual({
        ...{ valid: 3, skipped: 0 },
        problems: [`apiextensions.k8s.io/v1 CustomResourceDefinition tills.shop.dev: ${at}: additional properties 'minimun' not allowed`],
      });
    });

    it("which leave out the kinds of the Prometheus operator that are named, and no others", async () => {
      const problems = ["monitoring.coreos.com/v1 ServiceMoniter misspelt: could not find schema for ServiceMoniter"];
      expect(await check(MONITORS)).toEqual({ valid: 0, skipped: 1, problems });
    });
  });

  it("know what one version serves and another does not", async () => {
    const manifests = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: { name: gpu }\nspec: {}\n";
    const check = (kubernetes: "1.33" | "1.34") => checkManifests(given, { kubernetes, manifests }, signal);
    expect((await check("1.33")).problems).toEqual(["resource.k8s.io/v1 DeviceClass gpu: could not find schema for DeviceClass"]);
    expect(await check("1.34")).toEqual({ valid: 1, skipped: 0, problems: [] });
  });
});
