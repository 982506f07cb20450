import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cacheDirectory } from "./build.ts";
import { withFileLock } from "./file-lock.ts";
import { allSets, argoCdSetName, argoCdVersions, goSet, rendererSets } from "./go-sets.ts";
import { isGoNewEnough } from "./go-toolchain.ts";
import { renderKubeconfig } from "./kubeconfig.ts";

const directory = mkdtempSync(join(tmpdir(), "build-"));
afterAll(() => rmSync(directory, { recursive: true }));
const { signal } = new AbortController();

describe("the sets", () => {
  it("name their programs and set the versions that kubectl and Argo CD report", () => {
    const kubernetes = goSet("kubernetes");
    expect(kubernetes.programs.map(({ name }) => name)).toEqual([
      "etcd",
      "kube-apiserver",
      "kube-controller-manager",
      "kube-scheduler",
      "kubectl",
    ]);
    expect(kubernetes.programs[1]?.variables["k8s.io/component-base/version.gitVersion"]).toMatch(/^v1\.\d+\.\d+$/);
    for (const version of argoCdVersions()) {
      const [program] = goSet(argoCdSetName(`v${version}`)).programs;
      expect(Object.values(program?.variables ?? {})).toEqual([version]);
    }
    expect(argoCdVersions()).toContain("3.5.7");
  });

  it("hold a Kustomize and a Helm for each Argo CD, of the version they report", () => {
    expect(rendererSets("v3.5.7")).toEqual(["kustomize-5.8.1", "helm-4.2.1"]);
    for (const version of argoCdVersions())
      for (const name of rendererSets(version)) {
        const set = goSet(name);
        const [tool = "", number = ""] = name.split("-");
        expect(set.programs).toMatchObject([{ name: tool }]);
        expect(Object.values(set.programs[0]?.variables ?? {})).toEqual([`v${number}`]);
        expect(allSets()).toContain(name);
        const module = readFileSync(join(set.directory, "go.mod"), "utf8");
        expect(module).toMatch(new RegExp(`^tool ${set.programs[0]?.package}$`, "m"));
        expect(module).toContain(` v${number} `);
      }
    expect(rendererSets("2.0.0")).toEqual([]);
  });

  it("hold kubeconform in the version that its module file requires", () => {
    const { programs, directory } = goSet("kubeconform");
    expect(programs).toMatchObject([{ name: "kubeconform", package: "github.com/yannh/kubeconform/cmd/kubeconform" }]);
    expect(readFileSync(join(directory, "go.mod"), "utf8")).toContain(` ${programs[0]?.variables["main.version"]} `);
    expect(allSets()).toContain("kubeconform");
  });

  it.each(["argo-cd-0.0.1", "argo-cd-", "", "../go"])("there is no set called %j", (name) => {
    expect(() => goSet(name)).toThrow(/Looking up/);
  });
});

describe("building", () => {
  it.each([
    ["go1.26.8", "1.26.3", true],
    ["go1.26.3", "1.26.3", true],
    ["go1.26", "1.26.3", false],
    ["go1.25.9", "1.26.0", false],
    ["go2.0.0", "1.99.9", true],
    ["go1.26rc1", "1.25.0", true],
  ])("Go %s for a module of %s: %s", (have, need, enough) => {
    expect(isGoNewEnough(have, need)).toBe(enough);
  });

  it("caches outside the checkout, where the user says", () => {
    expect(cacheDirectory({ ARGOSY_CACHE: "/a" })).toBe("/a");
    expect(cacheDirectory({ XDG_CACHE_HOME: "/b" })).toBe("/b/argosy");
    expect(cacheDirectory({})).toMatch(/\/\.cache\/argosy$/);
  });
});

describe("a lock between processes", () => {
  it("lets one in at a time, and is taken over from a holder that is gone", async () => {
    const path = join(directory, "a.lock");
    writeFileSync(path, `${2 ** 22 + 1} 17`);
    let [inside, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    };
    await Promise.all([1, 2, 3].map(() => withFileLock(path, work, signal)));
    expect(most).toBe(1);
  });
});

describe("a kubeconfig", () => {
  it("has one context with what is needed", () => {
    const config = JSON.parse(
      renderKubeconfig({ name: "c", server: "https://127.0.0.1:1", ca: "PEM", namespace: "one", tokenFile: "/t" }),
    ) as Record<string, unknown>;
    expect(config).toMatchObject({
      "current-context": "c",
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1", "certificate-authority-data": "UEVN" } }],
      users: [{ name: "c", user: { tokenFile: "/t" } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "c", namespace: "one" } }],
    });
  });
});
