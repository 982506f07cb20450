import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { endpointKey } from "../address.ts";
import { aResource } from "../testing/builders.ts";
import { environmentStatus } from "./environment-status.ts";
import { findingOf, noSecret, type ProbeAnswer } from "./finding.ts";
import { kubeconfigOf, parseEnvironment, SECRET_TYPE, secretNameOf } from "./parse-environment.ts";

const SPEC = { apiURL: "https://api.prod.example:6443", credentialsSecret: "prod-creds", allowInsecureSkipTLSVerify: false };
const EGRESS = { allow: ["10.1.0.0/16"], http: ["inner"] };
const parse = (over: Readonly<Record<string, unknown>> = {}) => parseEnvironment({ ...SPEC, ...over }, EGRESS);
const reasonOf = (over: Readonly<Record<string, unknown>>) => {
  const parsed = parse(over);
  return parsed.ok ? undefined : parsed.finding.reason;
};

describe("what an environment asks for", () => {
  it("is read with every default", () => {
    expect(parse()).toEqual({
      ok: true,
      request: {
        apiUrl: "https://api.prod.example:6443",
        secretName: "prod-creds",
        namespaces: [],
        clusterResources: false,
        isInsecure: false,
        createsAccount: false,
      },
    });
  });

  it("is refused when an account would need rights in more namespaces than one visit can give them in", () => {
    const namespaces = Array.from({ length: 101 }, (_, index) => `n${index}`);
    expect(parse({ namespaces }).ok).toBe(true);
    expect(parse({ namespaces: namespaces.slice(1), createNewServiceAccount: true }).ok).toBe(true);
    expect(parse({ namespaces, createNewServiceAccount: true })).toMatchObject({ ok: false, finding: { reason: "InvalidNamespaceList" } });
  });

  it("is read with everything it says, namespaces sorted and once", () => {
    const over = { namespaces: ["b", "a", "b"], clusterResources: true, allowInsecureSkipTLSVerify: true, createNewServiceAccount: true };
    expect(parse(over)).toMatchObject({
      request: { namespaces: ["a", "b"], clusterResources: true, isInsecure: true, createsAccount: true },
    });
  });

  it.each([
    ["https://API.prod.example:443/", "https://api.prod.example"],
    ["https://h.example/clusters/one/", "https://h.example/clusters/one"],
    ["https://10.1.2.3:6443", "https://10.1.2.3:6443"],
    ["https://inner:6443", "https://inner:6443"],
  ])("takes %s for %s", (apiURL, apiUrl) => {
    expect(parse({ apiURL })).toMatchObject({ request: { apiUrl } });
  });

  it.each([
    ["http://api.prod.example", "UnsupportedAPIURL"],
    ["https://api.prod.example?managedEnvironment=x", "UnsupportedAPIURL"],
    ["https://api.prod.example/&", "UnsupportedAPIURL"],
    ["https://user:password@api.prod.example", "UnsupportedAPIURL"],
    ["https://token@api.prod.example", "UnsupportedAPIURL"],
    ["https://api.prod.example/#x", "UnsupportedAPIURL"],
    ["https://", "UnsupportedAPIURL"],
    ["https://*.example", "UnsupportedAPIURL"],
    ["https://a b.example", "UnsupportedAPIURL"],
    ["https://api.example\n", "UnsupportedAPIURL"],
    ["", "UnsupportedAPIURL"],
    [7, "UnsupportedAPIURL"],
    ["https://10.2.0.1", "UnableToCreateClient"],
    ["https://127.0.0.1:6443", "UnableToCreateClient"],
    ["https://2130706433", "UnableToCreateClient"],
    ["https://[::1]:6443", "UnableToCreateClient"],
    ["https://[::ffff:169.254.169.254]", "UnableToCreateClient"],
    ["https://169.254.169.254", "UnableToCreateClient"],
    ["https://kubernetes.default.svc", "UnableToCreateClient"],
    ["https://localhost", "UnableToCreateClient"],
  ])("refuses the URL %s", (apiURL, reason) => {
    expect(reasonOf({ apiURL })).toBe(reason);
  });

  it("says what the original said of ? and & in the URL", () => {
    expect(parse({ apiURL: "https://a.example?b" })).toMatchObject({
      finding: { status: "Unknown", message: "the API URL must not have ? or & values" },
    });
  });

  it.each(["", "A", "a.b", "-a", "a".repeat(64), "*", "a,b"])("refuses the namespace '%s'", (namespace) => {
    expect(reasonOf({ namespaces: ["web", namespace] })).toBe("InvalidNamespaceList");
  });

  it("says when no Secret is named, and which one is whatever else is wrong", () => {
    for (const credentialsSecret of ["", undefined, 7]) expect(reasonOf({ credentialsSecret })).toBe("SecretNotSpecified");
    expect(secretNameOf({ ...SPEC, apiURL: 3 })).toBe("prod-creds");
    for (const raw of [undefined, null, 3, {}, { credentialsSecret: {} }]) expect(secretNameOf(raw)).toBeUndefined();
  });
});

describe("an environment that is older than its schema", () => {
  it.each(["..", "a/b", "../../bob/secrets/x", "A", "a\n", "a?b", "a".repeat(254)])(
    "never has the Secret '%s' asked for",
    (credentialsSecret) => {
      expect(reasonOf({ credentialsSecret })).toMatch(/^Secret(NotFound|NotSpecified)$/);
    },
  );

  it.each([
    [{ namespaces: "web" }, "InvalidNamespaceList"],
    [{ namespaces: [7] }, "InvalidNamespaceList"],
    [{ apiURL: undefined }, "UnsupportedAPIURL"],
    [{ allowInsecureSkipTLSVerify: undefined }, "InvalidSpec"],
    [{ clusterResources: "yes" }, "InvalidSpec"],
  ])("is refused with the reason for the field that is wrong: %j", (over, reason) => {
    expect(reasonOf(over)).toBe(reason);
  });

  it("quotes nothing of what it was given", () => {
    expect(parse({ namespaces: ["web", "s3cr3t\r\n"] })).toMatchObject({
      finding: { message: "invalid namespace in spec.namespaces: spec.namespaces[1] is no name of a namespace" },
    });
  });
});

describe("an environment's Secret", () => {
  const kubeconfig = new TextEncoder().encode("text");
  it.each([
    ["is not there", undefined, "SecretNotFound"],
    ["has another type", { type: "Opaque", data: { kubeconfig } }, "InvalidSecretType"],
    ["has no kubeconfig", { type: SECRET_TYPE, data: { config: kubeconfig } }, "MissingKubeConfigField"],
    ["has an empty one", { type: SECRET_TYPE, data: { kubeconfig: new Uint8Array() } }, "MissingKubeConfigField"],
  ])("that %s is said to be so", (_what, secret, reason) => {
    expect(kubeconfigOf(secret, "prod-creds")).toMatchObject({ ok: false, finding: { reason, status: "False", keepsLast: false } });
  });

  it("gives its kubeconfig as text", () => {
    expect(kubeconfigOf({ type: SECRET_TYPE, data: { kubeconfig } }, "prod-creds")).toEqual({ ok: true, text: "text" });
  });
});

describe("what a cluster answers", () => {
  const answers: readonly (readonly [ProbeAnswer, string, string, boolean])[] = [
    [{ kind: "accepted" }, "True", "Succeeded", false],
    [{ kind: "forbidden" }, "Unknown", "UnableToValidateClusterCredentials", true],
    [{ kind: "refused" }, "Unknown", "UnableToValidateClusterCredentials", true],
    [{ kind: "untrusted" }, "Unknown", "UnableToValidateClusterCredentials", true],
    [{ kind: "unreachable", why: "no such host" }, "False", "UnableToCreateClient", true],
    [{ kind: "inside" }, "False", "UnableToCreateClient", false],
    [{ kind: "reserved" }, "False", "UnableToCreateClient", false],
  ];
  it.each(answers)("%j is %s/%s; what worked before goes on: %s", (answer, status, reason, keepsLast) => {
    expect(findingOf(answer)).toMatchObject({ status, reason, keepsLast });
  });

  it("is said in the original's words where users know them", () => {
    expect(findingOf({ kind: "accepted" }).message).toBe("");
    expect(findingOf({ kind: "forbidden" }).message).toMatch(
      /^Provided service account does not have permission to access resources in the cluster\./,
    );
    expect(findingOf({ kind: "untrusted" }).message).toMatch(/^Certificate signed by unknown authority\./);
    expect(findingOf({ kind: "unreachable", why: "no such host" }).message).toContain("no such host");
  });
});

describe("an environment's status", () => {
  const now = millis(1_767_225_600_000);
  const found = findingOf({ kind: "accepted" });
  const said = environmentStatus(aResource(), found, now);

  it("always says whether there is a connection and whether it is ready", () => {
    expect(said).toMatchObject({
      observedGeneration: 1,
      conditions: [
        { type: "ConnectionInitializationSucceeded", status: "True", reason: "Succeeded", message: "" },
        { type: "Ready", status: "True", reason: "Succeeded" },
      ],
    });
    expect(environmentStatus(aResource(), noSecret("x"), now)?.conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      "ConnectionInitializationSucceeded=False",
      "Ready=False",
      "Stalled=True",
    ]);
  });

  it("is not written again while nothing changes, and is as soon as anything does", () => {
    const shown = aResource({ conditions: said?.conditions ?? [], observedGeneration: 1 });
    expect(environmentStatus(shown, found, now)).toBeUndefined();
    expect(environmentStatus({ ...shown, generation: 2 }, found, now)?.observedGeneration).toBe(2);
    expect(environmentStatus(shown, noSecret("x"), now)).toBeDefined();
    const foreign = { type: "Theirs", status: "True" };
    expect(environmentStatus({ ...shown, conditions: [...shown.conditions, foreign] }, found, now)).toBeUndefined();
    const stale = { type: "Stalled", status: "True" };
    expect(environmentStatus({ ...shown, conditions: [...shown.conditions, stale] }, found, now)).toBeDefined();
  });
});

describe("a listener", () => {
  it.each([
    ["127.0.0.1", "127.9.9.9"],
    ["127.0.0.1", "::1"],
    ["127.0.0.1", "::ffff:127.0.0.1"],
    ["10.0.0.1", "::ffff:10.0.0.1"],
    ["2001:db8::1", "[2001:DB8:0::1]"],
    ["Api.Example", "api.example."],
  ])("is the same at %s and %s", (a, b) => {
    expect(endpointKey(a, 6443)).toBe(endpointKey(b, 6443));
  });

  it("is another at another port or address", () => {
    expect(endpointKey("127.0.0.1", 6443)).not.toBe(endpointKey("127.0.0.1", 6444));
    expect(endpointKey("10.0.0.1", 6443)).not.toBe(endpointKey("10.0.0.2", 6443));
  });
});
