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

  it("tells programs, versions that cannot be had, and images it does not know", () => {
    const catalogue = createCatalogue({ argoCdVersions: ["3.5.7"], obtain: () => Promise.resolve(built) });
    expect(catalogue.find("quay.example/argoproj/argocd:v3.5.7")).toMatchObject({ kind: "program", set: "argo-cd-3.5.7" });
    expect(catalogue.find("argocd:v9.9.9")).toEqual({ kind: "absent" });
    expect(catalogue.find("argocd")).toEqual({ kind: "absent" });
    expect(catalogue.find("argocd:v3.5.7-crashing")).toMatchObject({ kind: "program", set: "argo-cd-3.5.7" });
    expect(catalogue.find("argocd:v3.5.7-singing")).toEqual({ kind: "absent" });
    expect(catalogue.find("redis:8.2.3-alpine")).toMatchObject({ kind: "program", set: "tools" });
    expect(catalogue.find("nginx:1")).toEqual({ kind: "unknown" });
  });

  it("makes a release bad by its controller alone", () => {
    const catalogue = createCatalogue({ argoCdVersions: ["3.5.7"], obtain: () => Promise.resolve(built) });
    const argsOf = (tag: string, component: string) => {
      const image = catalogue.find(`argocd:${tag}`);
      const words = [`/usr/local/bin/argocd-${component}`];
      return image.kind === "program" ? image.launch(input({ words }))?.args : undefined;
    };
    expect(argsOf("v3.5.7-stalled", "application-controller")?.slice(-2)).toEqual(["--status-processors", "0"]);
    expect(argsOf("v3.5.7-crashing", "application-controller")?.at(-1)).toBe("--no-such-option");
    expect(argsOf("v3.5.7", "application-controller")).not.toContain("--status-processors");
    expect(argsOf("v3.5.7-stalled", "repo-server")).toEqual(argsOf("v3.5.7", "repo-server"));
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
