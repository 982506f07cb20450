import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { podField, type References, resolveEnvironment } from "./environment.ts";
import { expand } from "./expand.ts";
import { parseQuantity } from "./quantity.ts";
import { aContainer, aPod } from "./testing/a-pod.ts";

const facts = { pod: aPod(), podIP: "127.20.0.1" };
const references: References = {
  configMap: (name) => (name === "settings" ? { level: "debug", port: "80" } : undefined),
  secret: (name) => (name === "password" ? { auth: "s3cret" } : undefined),
};

describe("expand", () => {
  it.each([
    ["--requirepass $(PASSWORD)", "--requirepass x"],
    ["$$(PASSWORD)", "$(PASSWORD)"],
    ["$(UNKNOWN)", "$(UNKNOWN)"],
    ["$PASSWORD and $(PASSWORD)$(PASSWORD)", "$PASSWORD and xx"],
    ["$$$(PASSWORD)", "$x"],
    ["$(toString)", "$(toString)"],
  ])("%s becomes %s", (text, expanded) => {
    expect(expand(text, { PASSWORD: "x" })).toBe(expanded);
  });

  it("leaves text without a dollar alone", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("$")),
        (text) => expand(text, { A: "b" }) === text,
      ),
    );
  });
});

describe("parseQuantity", () => {
  it.each([
    ["250m", 0.25],
    ["4Gi", 4 * 2 ** 30],
    ["1e3", 1000],
    ["2", 2],
    ["1.5k", 1500],
    ["", undefined],
    ["4GiB", undefined],
    ["many", undefined],
  ])("%s is %s", (text, value) => {
    expect(parseQuantity(text)).toBe(value);
  });
});

describe("the environment of a container", () => {
  const resolve = (changes: Parameters<typeof aContainer>[0]) => resolveEnvironment(aContainer(changes), facts, references);

  it("comes from literals, config maps, secrets and the pod itself, each able to use those before", () => {
    const result = resolve({
      envFrom: [{ prefix: "CM_", configMapRef: { name: "settings" } }, { secretRef: { name: "password" } }],
      env: [
        { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "password", key: "auth" } } },
        { name: "LEVEL", valueFrom: { configMapKeyRef: { name: "settings", key: "level" } } },
        { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        { name: "GOMEMLIMIT", valueFrom: { resourceFieldRef: { resource: "limits.memory" } } },
        { name: "CPUS", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
        { name: "URL", value: "redis://:$(PASSWORD)@$(IP)" },
        { name: "EMPTY" },
      ],
      resources: { limits: { memory: "1Gi", cpu: "1500m" } },
    });
    expect(result).toEqual({
      ok: true,
      variables: {
        CM_level: "debug",
        CM_port: "80",
        auth: "s3cret",
        PASSWORD: "s3cret",
        LEVEL: "debug",
        IP: "127.20.0.1",
        GOMEMLIMIT: "1073741824",
        CPUS: "2",
        URL: "redis://:s3cret@127.20.0.1",
        EMPTY: "",
      },
    });
  });

  it("leaves out what is optional and missing", () => {
    const ref = { name: "absent", key: "k", optional: true };
    const result = resolve({
      envFrom: [{ configMapRef: { name: "absent", optional: true } }],
      env: [
        { name: "A", valueFrom: { configMapKeyRef: ref } },
        { name: "B", valueFrom: { secretKeyRef: ref } },
      ],
    });
    expect(result).toEqual({ ok: true, variables: {} });
  });

  it.each([
    [{ envFrom: [{ secretRef: { name: "absent" } }] }, 'secret "absent" not found'],
    [{ env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "absent", key: "k" } } }] }, 'configmap "absent" not found'],
    [{ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "password", key: "k" } } }] }, 'couldn\'t find key k in secret "password"'],
  ])("names what is required and missing", (changes, missing) => {
    expect(resolve(changes)).toEqual({ ok: false, missing });
  });

  it("knows the fields of a pod", () => {
    expect(podField("metadata.labels['app']", facts)).toBe("web");
    expect(podField("metadata.annotations['none']", facts)).toBe("");
    expect(podField("metadata.labels", facts)).toBe('app="web"');
    expect(podField("metadata.namespace", facts)).toBe("shop");
    expect(podField("spec.unheard", facts)).toBeUndefined();
  });
});
