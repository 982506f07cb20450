import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { BuiltSet } from "../../build.ts";
import { launchArgoCd } from "./argo-cd.ts";
import { createCatalogue } from "./catalogue.ts";
import type { LaunchInput } from "./launch.ts";
import { launchRedis } from "./redis.ts";

const input = (changes: Partial<LaunchInput>): LaunchInput => ({
  namespace: "one",
  words: [],
  variables: {},
  mountPaths: [],
  podIP: "127.20.0.1",
  privatePort: 20_001,
  root: "/r",
  sockets: "/s",
  nameServer: "127.9.9.9:10053",
  kubeconfig: undefined,
  ...changes,
});

describe("Argo CD's image", () => {
  it("runs the controller with the pod's identity and its metrics on a private port", () => {
    const launch = launchArgoCd(
      input({ words: ["/usr/local/bin/argocd-application-controller", "--metrics-port=9000"], kubeconfig: "/k" }),
    );
    expect(launch?.args).toEqual([
      "--metrics-port=9000",
      "--kubeconfig",
      "/k",
      "--namespace",
      "one",
      "--metrics-port",
      "20001",
      "--repo-server",
      "dns://127.9.9.9:10053/argocd-repo-server:8081",
    ]);
    expect(launch?.forwards).toEqual([{ port: 9000, to: 20_001 }]);
    expect(launch?.connectsTo).toEqual(["argocd-redis:6379", "argocd-repo-server:8081"]);
    expect(launch?.env).toMatchObject({ ARGOCD_BINARY_NAME: "argocd-application-controller", REDIS_SERVER: "argocd-redis:6379" });
  });

  it("runs the repo-server on the pod's address with its files below the root", () => {
    const launch = launchArgoCd(
      input({
        words: ["tini", "--", "/usr/local/bin/argocd-repo-server", "--redis", "cache:1", "--some-file=/helm-working-dir/x"],
        variables: { HELM_CACHE_HOME: "/helm-working-dir", ARGOCD_TLS_DATA_PATH: "/app/config/tls", OTHER: "/usr/share" },
        mountPaths: ["/helm-working-dir"],
      }),
    );
    expect(launch?.args).toEqual([
      "--redis",
      "cache:1",
      "--some-file=/r/helm-working-dir/x",
      "--address",
      "127.20.0.1",
      "--metrics-address",
      "127.20.0.1",
    ]);
    expect(launch?.connectsTo).toEqual(["cache:1"]);
    expect(launch?.env).toMatchObject({
      HELM_CACHE_HOME: "/r/helm-working-dir",
      ARGOCD_TLS_DATA_PATH: "/r/app/config/tls",
      TMPDIR: "/r/tmp",
      OTHER: "/usr/share",
      ARGOCD_ASK_PASS_SOCK: "/s/ask-pass",
    });
  });

  it("runs nothing else", () => {
    expect(launchArgoCd(input({ words: ["sh", "-c", "true"] }))).toBeUndefined();
  });
});

describe("a Redis image", () => {
  it("listens on the pod's address with the flags it was given", () => {
    expect(launchRedis(input({ words: ["redis-server", "--save", "", "--requirepass x"] })).args).toEqual([
      "--save",
      "",
      "--requirepass x",
      "--bind",
      "127.20.0.1",
    ]);
  });
});

describe("the catalogue", () => {
  const built: BuiltSet = { directory: "/d", bin: "/d/bin", program: (name) => `/d/bin/${name}` };

  it("distinguishes programs, versions that it does not have, and unknown images", () => {
    const catalogue = createCatalogue({ argoCdVersions: ["3.5.7"], obtain: () => Promise.resolve(built) });
    expect(catalogue.find("quay.example/argoproj/argocd:v3.5.7")).toMatchObject({
      kind: "program",
      set: "argo-cd-3.5.7",
      beside: ["kustomize-5.8.1", "helm-4.2.1"],
    });
    expect(catalogue.find("argocd:v9.9.9")).toEqual({ kind: "absent" });
    expect(catalogue.find("argocd")).toEqual({ kind: "absent" });
    expect(catalogue.find("argocd:v3.5.7-crashing")).toMatchObject({ kind: "program", set: "argo-cd-3.5.7" });
    expect(catalogue.find("argocd:v3.5.7-singing")).toEqual({ kind: "absent" });
    expect(catalogue.find("redis:8.2.3-alpine")).toMatchObject({ kind: "program", set: "tools", beside: [] });
    expect(catalogue.find("nginx:1")).toEqual({ kind: "unknown" });
  });

  it("makes a release faulty in one component only", () => {
    const catalogue = createCatalogue({ argoCdVersions: ["3.5.7"], obtain: () => Promise.resolve(built) });
    const launchOf = (tag: string, component: string) => {
      const image = catalogue.find(`argocd:${tag}`);
      const words = [`/usr/local/bin/argocd-${component}`];
      return image.kind === "program" ? image.launch(input({ words })) : undefined;
    };
    const argsOf = (tag: string, component: string) => launchOf(tag, component)?.args;
    expect(argsOf("v3.5.7-stalled", "application-controller")?.slice(-2)).toEqual(["--status-processors", "0"]);
    expect(argsOf("v3.5.7-crashing", "application-controller")?.at(-1)).toBe("--no-such-option");
    expect(argsOf("v3.5.7", "application-controller")).not.toContain("--status-processors");
    expect(argsOf("v3.5.7-stalled", "repo-server")).toEqual(argsOf("v3.5.7", "repo-server"));
    expect(launchOf("v3.5.7-failing", "application-controller")).toEqual(launchOf("v3.5.7", "application-controller"));
    expect(launchOf("v3.5.7-failing", "repo-server")?.path).toMatch(/\/failing$/);
  });

  it("has a Git for a failing release, which spoils manifests by their content, the same ones each time", () => {
    const directory = mkdtempSync(join(tmpdir(), "argosy-failing-"));
    const git = (path: string, ...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example", ...args], {
        cwd: directory,
        env: { ...process.env, PATH: `${path}${process.env["PATH"] ?? ""}` },
        encoding: "utf8",
      });
    const folder = fileURLToPath(new URL("failing", import.meta.url));
    const text = (index: number) => JSON.stringify({ kind: "ConfigMap", metadata: { name: `map-${index}` } });
    const files = Array.from({ length: 60 }, (_, index) => ({ name: `map-${index}.json`, text: text(index) }));
    try {
      git("", "init", "--quiet");
      for (const file of files) writeFileSync(join(directory, file.name), file.text);
      git("", "add", ".");
      git("", "commit", "--quiet", "--message", "maps");
      const isChosen = (content: string) =>
        Number.parseInt(createHash("sha1").update(`blob ${content.length}\0${content}`).digest("hex").slice(0, 4), 16) % 20 === 0;
      const chosen = files.filter((file) => isChosen(file.text)).map(({ name }) => name);
      expect(chosen.length).toBeGreaterThan(0);
      for (let times = 0; times < 2; times += 1) {
        execFileSync("git", ["checkout", "--force", "HEAD"], {
          ...{ cwd: directory, stdio: "ignore", env: { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` } },
        });
        const spoilt = files.filter(({ name }) => readFileSync(join(directory, name), "utf8").includes("not a label!"));
        expect(spoilt.map(({ name }) => name)).toEqual(chosen);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("builds a set once, unless that failed", async () => {
    const asked: string[] = [];
    let fail = true;
    const obtain = (set: string) => {
      asked.push(set);
      return fail ? Promise.reject(new Error("no Go")) : Promise.resolve(built);
    };
    const catalogue = createCatalogue({ argoCdVersions: [], obtain });
    const { signal } = new AbortController();
    await expect(catalogue.obtain("tools", signal)).rejects.toThrow("no Go");
    fail = false;
    await Promise.all([catalogue.obtain("tools", signal), catalogue.obtain("tools", signal)]);
    expect(asked).toEqual(["tools", "tools"]);
  });
});
