import { beforeAll, describe, expect, it } from "vitest";
import { conditionOf, configMapFile, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

type Files = Readonly<Record<string, string>>;

const BASE: Files = {
  "shop/base/kustomization.yaml": "resources: [config.yaml]\n",
  "shop/base/config.yaml": configMapFile("shop", { currency: "EUR", stage: "none" }),
};
const OVERLAY: Files = {
  "shop/overlays/dev/kustomization.yaml": [
    "resources: [../../base]",
    "nameSuffix: -dev",
    "patches: [{path: stage.yaml}]",
    "configMapGenerator: [{name: extra, literals: [colour=green]}]",
    "generatorOptions: {disableNameSuffixHash: true}\n",
  ].join("\n"),
  "shop/overlays/dev/stage.yaml": configMapFile("shop", { stage: "dev" }),
};

/** What each value is rendered from. */
const TEMPLATE = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Chart.Name }}}
data:
  colour: {{ .Values.colour | quote }}
  release: {{ .Release.Name | quote }}
  namespace: {{ .Release.Namespace | quote }}
`;
const CHART: Files = {
  "web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}\n",
  "web/values.yaml": "colour: green\n",
  "web/templates/config.yaml": TEMPLATE,
};

/** Nothing is fetched from elsewhere, and no program of the repository runs: what is tried, and what its user reads. */
const REFUSED: readonly { readonly what: string; readonly files: Files; readonly reads: RegExp }[] = [
  {
    what: "a base at an address that is not reached",
    files: { "app/kustomization.yaml": "resources: ['https://git.invalid/team/base//dev?ref=main']\n" },
    reads: /unable to access 'https:\/\/git\.invalid/,
  },
  {
    what: "a base that is not there",
    files: { "app/kustomization.yaml": "resources: [../base]\n" },
    reads: /base'? ?: (lstat .*)?no such file or directory/,
  },
  {
    what: "a file outside the repository",
    files: { "app/kustomization.yaml": "resources: [/etc/hostname]\n" },
    reads: /security; file|must be relative|is not in or below|new root '\/etc\/hostname' cannot be absolute/,
  },
  {
    what: "a chart in a kustomization",
    files: { "app/kustomization.yaml": "helmCharts: [{name: web, repo: 'https://charts.invalid', version: 1.0.0}]\n" },
    reads: /must specify --enable-helm/,
  },
  {
    what: "a program in a kustomization",
    files: {
      "app/kustomization.yaml": "generators: [run.yaml]\n",
      "app/run.yaml": `apiVersion: example.dev/v1
kind: Run
metadata: {name: run, annotations: {config.kubernetes.io/function: "exec: {path: ./run.sh}"}}
`,
      "app/run.sh": "#!/bin/sh\necho '{}'\n",
    },
    reads: /external plugins disabled/,
  },
  {
    what: "a chart that needs one from elsewhere",
    files: {
      ...{ "app/values.yaml": "{}\n", "app/templates/a.yaml": configMapFile("a", {}) },
      "app/Chart.yaml":
        "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: base, version: 1.0.0, repository: 'https://charts.invalid'}]}\n",
    },
    reads: /charts\.invalid/,
  },
  {
    what: "values from elsewhere",
    files: {
      ...{ "app/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}\n", "app/templates/a.yaml": configMapFile("a", {}) },
      "app/.argocd-source.yaml": "helm: {valueFiles: ['https://values.invalid/a.yaml']}\n",
    },
    reads: /not allowed/,
  },
  {
    what: "values outside the repository",
    files: {
      ...{ "app/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}\n", "app/templates/a.yaml": configMapFile("a", {}) },
      "app/.argocd-source.yaml": "helm: {valueFiles: ['../../../../../etc/passwd']}\n",
    },
    reads: /outside (of )?(the )?repository/,
  },
  {
    what: "a template that asks for a value nobody gave",
    files: {
      "app/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}\n",
      "app/templates/a.yaml": "name: {{ .Values.image.tag }}\n",
    },
    reads: /nil pointer evaluating interface \{\}\.tag/,
  },
];

describe("the content of Git", () => {
  let world: World;
  let user: Workspace;
  beforeAll(async () => {
    world = openWorld();
    user = await openWorkspace(world, "rendering");
  });
  const poke = (name: string) => user.annotate(name, { "argosy.dev/refreshed-at": String(performance.now()) });

  it("is built by Kustomize where it is an overlay, with its base, also when only the base changes", async () => {
    await world.git.commit("overlay", { ...BASE, ...OVERLAY });
    await user.apply("overlay", { repository: "overlay", path: "shop/overlays/dev" });
    await user.settled("overlay");
    expect((await user.configMap("shop-dev"))?.data).toEqual({ currency: "EUR", stage: "dev" });
    expect((await user.configMap("extra-dev"))?.data).toEqual({ colour: "green" });
    expect(await user.configMap("shop")).toBeUndefined();

    const second = await world.git.commit("overlay", {
      "shop/base/config.yaml": configMapFile("shop", { currency: "CHF", stage: "none" }),
    });
    await poke("overlay");
    await user.settled("overlay", second);
    expect((await user.configMap("shop-dev"))?.data).toEqual({ currency: "CHF", stage: "dev" });
  });

  it("is rendered by Helm where it is a chart, with the values in Git, and with a dependency in the same repository", async () => {
    const beside: Files = {
      "web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: base, version: 1.0.0}]}\n",
      "web/charts/base/Chart.yaml": "{apiVersion: v2, name: base, version: 1.0.0}\n",
      "web/charts/base/templates/a.yaml": configMapFile("from-base", { at: "{{ .Chart.Version }}" }),
    };
    await world.git.commit("chart", { ...CHART, ...beside });
    await user.apply("chart", { repository: "chart", path: "web" });
    await user.settled("chart");
    expect((await user.configMap("web"))?.data).toEqual({
      ...{ colour: "green", namespace: user.namespace },
      release: expect.stringMatching(/^rendering-chart-[0-9a-f]{16}$/),
    });
    expect((await user.configMap("from-base"))?.data).toEqual({ at: "1.0.0" });

    const second = await world.git.commit("chart", {
      "web/values-prod.yaml": "colour: blue\n",
      "web/.argocd-source.yaml": "helm: {releaseName: shop, valueFiles: [values-prod.yaml]}\n",
    });
    await poke("chart");
    await user.settled("chart", second);
    expect((await user.configMap("web"))?.data).toEqual({ colour: "blue", namespace: user.namespace, release: "shop" });
  });

  it("is rendered by Helm however long the names of the namespace and of the deployment are", async () => {
    const long = await openWorkspace(world, `rendering-${"n".repeat(40)}`);
    await world.git.commit("plain-chart", CHART);
    await long.apply("d".repeat(100), { repository: "plain-chart", path: "web" });
    await long.settled("d".repeat(100));
    expect((await long.configMap("web"))?.data).toMatchObject({ colour: "green" });
  });

  it("is not fetched from elsewhere and runs no program, and its user reads why", async () => {
    const startedAt = performance.now();
    const names = REFUSED.map((_, index) => `refused-${index}`);
    await Promise.all(
      REFUSED.map(async ({ files }, index) => {
        const name = names[index] ?? "";
        await world.git.commit(name, files);
        await user.apply(name, { repository: name, path: "app" });
      }),
    );
    for (const [index, { what, reads }] of REFUSED.entries()) {
      const seen = await until(
        what,
        () => user.read(names[index] ?? ""),
        (resource) => (conditionOf(resource, "ComparisonError")?.message ?? "") !== "",
      );
      const message = conditionOf(seen, "ComparisonError")?.message ?? "";
      report(`${what}, after ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${message}`);
      expect(message, what).toMatch(reads);
      expect(conditionOf(seen, "Ready"), what).toMatchObject({ status: "False", reason: "ComparisonError" });
    }
    for (const name of names) await world.kube.delete(TYPES.deployment, { namespace: user.namespace, name }, {}, world.signal);
  });
});
