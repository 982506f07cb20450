import { describe, expect, it } from "vitest";
import { parseImage } from "./image.ts";
import { replaceServiceNames, serviceOf } from "./service-names.ts";

describe("parseImage", () => {
  it.each([
    ["quay.example:5000/argoproj/argocd:v3.5.7@sha256:abc", { name: "argocd", tag: "v3.5.7" }],
    ["redis", { name: "redis", tag: undefined }],
    ["localhost:5000/team/redis:8", { name: "redis", tag: "8" }],
    ["argocd@sha256:abc", { name: "argocd", tag: undefined }],
  ])("%s", (reference, image) => {
    expect(parseImage(reference)).toEqual(image);
  });
});

describe("names of Services", () => {
  const known: Readonly<Record<string, string>> = { "one/argocd-redis": "127.1.1.1", "two/metrics": "127.2.2.2" };
  const replace = (text: string) => replaceServiceNames(text, "one", ({ namespace, name }) => known[`${namespace}/${name}`]);

  it.each([
    ["argocd-redis:6379", "127.1.1.1:6379"],
    ["--redis=argocd-redis:6379", "--redis=127.1.1.1:6379"],
    ["argocd-redis.one:6379,argocd-redis.one.svc.cluster.local:6380", "127.1.1.1:6379,127.1.1.1:6380"],
    ["https://metrics.two.svc:8443/path?x=argocd-redis", "https://127.2.2.2:8443/path?x=argocd-redis"],
    ["http://argocd-redis/path", "http://127.1.1.1/path"],
    ["metrics.two.svc", "127.2.2.2"],
  ])("%s becomes %s", (text, replaced) => {
    expect(replace(text)).toBe(replaced);
  });

  it.each([
    "argocd-redis",
    "argocd-redis-ha:6379",
    "/etc/argocd-redis:6379",
    "metrics:80",
    "127.0.0.1:6379",
    "localhost:80",
    "https://git.example.com/metrics.git",
    "",
  ])("leaves %s alone", (text) => {
    expect(replace(text)).toBe(text);
  });

  it("are names of the pod's own namespace when they are short", () => {
    expect(serviceOf("redis", "one")).toEqual({ namespace: "one", name: "redis" });
    expect(serviceOf("redis.two", "one")).toEqual({ namespace: "two", name: "redis" });
    expect(serviceOf("redis.two.example.com", "one")).toBeUndefined();
    expect(serviceOf("localhost", "one")).toBeUndefined();
  });
});
