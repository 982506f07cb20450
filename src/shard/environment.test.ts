import { describe, expect, test } from "vitest";
import type { Environment, EnvironmentCredential } from "../domain/environment.ts";
import type { EnvironmentId, UnitId } from "../domain/ids.ts";
import type { Application } from "../domain/workspace.ts";
import { environmentEntryName, environmentOfServer, environmentServer, serverPattern } from "./names.ts";
import { parseApplication } from "./parse-application.ts";
import { parseCredential } from "./parse-credential.ts";
import { CASCADE_FINALIZER, planAbsence } from "./plan-application.ts";
import { renderApplication, targetOf } from "./render-application.ts";
import { renderEnvironmentEntry, superfluousEntries } from "./render-environment.ts";
import { renderUnit } from "./render-unit.ts";
import {
  anApplication,
  anApplicationPlacement,
  anEnvironment,
  DESTINATION,
  deleted,
  NAMESPACES,
  stored,
  TARGET,
} from "./testing/builders.ts";

const elsewhere = anApplication({}, { destination: { environment: "prod", namespace: "web" } });
const target = (application: Application, environment: Environment | undefined) =>
  targetOf(anApplicationPlacement(), application, { own: DESTINATION, environment });
const there = { server: "https://prod.example:6443?managedEnvironment=environment-1", namespace: "web" };

describe("where an application goes", () => {
  test("is its own namespace when it names no environment, whatever else there is", () => {
    expect(target(anApplication(), undefined)).toEqual({ server: DESTINATION.server, namespace: "team-a" });
    expect(target(anApplication(), anEnvironment())).toEqual({ server: DESTINATION.server, namespace: "team-a" });
  });

  test.each([
    ["connected", elsewhere, there],
    ["withdrawn", elsewhere, undefined],
    ["leaving", elsewhere, undefined],
    ["connected", deleted(elsewhere, "cascade"), there],
    ["withdrawn", deleted(elsewhere, "cascade"), there],
    ["leaving", deleted(elsewhere, "cascade"), there],
  ] as const)("through a %s environment is only what may go there", (state, application, expected) => {
    expect(target(application, anEnvironment({ state }))).toEqual(expected);
  });

  test("is nowhere without the environment it names, and never the own namespace instead", () => {
    expect(target(elsewhere, undefined)).toBeUndefined();
    expect(target(deleted(elsewhere, "cascade"), undefined)).toBeUndefined();
    expect(target(deleted(elsewhere, "cascade"), anEnvironment({ state: "leaving", apiUrl: "" }))).toBeUndefined();
  });
});

describe("an environment's server", () => {
  test("tells whose it is", () => {
    expect(environmentOfServer(environmentServer(anEnvironment()))).toBe("environment-1");
    for (const server of ["https://prod.example:6443", "https://prod.example?managedEnvironment=", ""])
      expect(environmentOfServer(server)).toBeUndefined();
  });

  test("is a pattern that matches itself alone", () => {
    expect(serverPattern("https://[::1]:6443?managedEnvironment=a")).toBe("https://\\[::1\\]:6443\\?managedEnvironment=a");
  });
});

describe("an entry", () => {
  const dataOf = (environment: Partial<Environment> = {}, credential: Partial<EnvironmentCredential> = {}) => {
    const { content } = renderEnvironmentEntry(anApplicationPlacement(), anEnvironment(environment), {
      server: "https://prod.example:6443",
      ...credential,
    });
    const data = Object.entries(content["data"] as Readonly<Record<string, string>>);
    return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  };
  const configOf = (...args: Parameters<typeof dataOf>) => JSON.parse(dataOf(...args)["config"] ?? "");

  test("belongs to its unit's project, so that no other project may use it", () => {
    const { project } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environments: [],
    });
    expect(dataOf()["project"]).toBe(project.at.name);
  });

  test("lists namespaces only where the environment does, and objects outside them only where it says so", () => {
    expect(dataOf({ namespaces: ["b", "a"] })).toMatchObject({ namespaces: "a,b" });
    expect(dataOf({ namespaces: ["a"] })).not.toHaveProperty("clusterResources");
    expect(dataOf({ namespaces: ["a"], clusterResources: true })["clusterResources"]).toBe("true");
    for (const field of ["namespaces", "clusterResources"])
      expect(dataOf({ namespaces: [], clusterResources: true })).not.toHaveProperty(field);
  });

  test("holds a token or a certificate, and no authority for a certificate that goes unchecked", () => {
    expect(configOf({}, { token: "t", ca: "c" })).toEqual({ bearerToken: "t", tlsClientConfig: { insecure: false, caData: "Yw==" } });
    expect(configOf({ isInsecure: true }, { token: "t", ca: "c" })).toEqual({ bearerToken: "t", tlsClientConfig: { insecure: true } });
    expect(configOf({}, { certificate: { cert: "a", key: "b" } })).toEqual({
      tlsClientConfig: { insecure: false, certData: "YQ==", keyData: "Yg==" },
    });
  });
});

describe("a project", () => {
  const specOf = (environments: readonly Environment[]) =>
    renderUnit(anApplicationPlacement(), { destination: DESTINATION, namespaces: NAMESPACES, repoUrls: [], environments }).project.content[
      "spec"
    ] as {
      readonly destinations: readonly { readonly server: string; readonly namespace: string }[];
      readonly clusterResourceWhitelist?: unknown;
      readonly namespaceResourceBlacklist?: unknown;
    };

  test("permits exactly the environments' namespaces beside the own one", () => {
    const server = serverPattern(there.server);
    expect(specOf([anEnvironment({ namespaces: ["web", "db"] })]).destinations).toEqual([
      { server: DESTINATION.server, namespace: "team-a" },
      { server, namespace: "web" },
      { server, namespace: "db" },
    ]);
    expect(specOf([anEnvironment({ namespaces: [] })]).destinations[1]).toEqual({ server, namespace: "*" });
  });

  test.each([
    [[], false],
    [[anEnvironment({ namespaces: ["web"] })], false],
    [[anEnvironment({ namespaces: ["web"], clusterResources: true })], true],
    [[anEnvironment({ namespaces: [] })], true],
  ] as const)("permits kinds outside namespaces only for an environment that allows them: %#", (environments, isAllowed) => {
    expect(specOf(environments).clusterResourceWhitelist !== undefined).toBe(isAllowed);
  });

  test("names what the own namespace cannot take as long as nothing else is deployed to", () => {
    expect(specOf([]).namespaceResourceBlacklist).toBeDefined();
    expect(specOf([anEnvironment()]).namespaceResourceBlacklist).toBeUndefined();
  });
});

describe("a stored credential", () => {
  const stored = JSON.stringify({
    server: "https://a",
    token: "t",
    ca: "c",
    serverName: "n",
    certificate: { cert: "x", key: "y" },
    exec: "rm",
  });

  test("is read field by field, for its own server", () => {
    expect(parseCredential(stored, "https://a")).toEqual({
      server: "https://a",
      token: "t",
      ca: "c",
      serverName: "n",
      certificate: { cert: "x", key: "y" },
    });
  });

  test.each([
    ["for another server", stored, "https://b"],
    ["that is not there", undefined, "https://a"],
    ["that is no JSON", "{", "https://a"],
    ["that is no object", "[]", "https://a"],
  ])("%s is none", (_what, text, server) => {
    expect(parseCredential(text, server)).toBeUndefined();
  });
});

describe("taking an Application off its instance", () => {
  const written = (revision: number, epoch = 7, finalizers?: readonly string[]) => {
    const raw = stored(renderApplication(anApplicationPlacement({ epoch }), anApplication({ desiredRevision: revision }), TARGET));
    return parseApplication({ ...raw, metadata: { ...raw.metadata, ...(finalizers && { finalizers }) } });
  };
  const fence = { epoch: 7, revision: 2 };

  test("I2: never cascades: a finalizer that would goes first", () => {
    const action = planAbsence(fence, "none", written(2, 7, [CASCADE_FINALIZER, "other"]));
    expect(action).toMatchObject({ kind: "change" });
    expect(JSON.stringify(action)).toContain('"value":["other"]');
    expect(planAbsence(fence, "none", written(2)).kind).toBe("delete");
    expect(planAbsence(fence, "none", undefined).kind).toBe("gone");
  });

  test.each([
    ["a newer revision", "none", 3, 7],
    ["a newer epoch", "none", 1, 8],
    ["the mark of a deletion that the row does not know of", "none", 3, 7],
    ["a newer mark than the row's own", "cascade", 4, 7],
  ] as const)("leaves alone what carries %s", (_what, deletion, revision, epoch) => {
    expect(planAbsence(fence, deletion, written(revision, epoch)).kind).toBe("fenced");
  });

  test("takes what its own deletion has marked", () => {
    expect(planAbsence(fence, "cascade", written(3)).kind).toBe("delete");
  });
});

describe("entries that a unit has for nothing", () => {
  const entry = (unit: string | undefined, environment: string | undefined) => ({
    at: { namespace: "argocd-1", name: `entry-${environment}` },
    labels: {
      ...(unit === undefined ? {} : { "argosy.dev/unit": unit }),
      ...(environment === undefined ? {} : { "argosy.dev/environment": environment }),
    },
  });
  const ids = (...names: readonly string[]) => names as readonly EnvironmentId[];

  test("are those that are seen or recorded, and neither used nor anybody else's", () => {
    const observed = [
      entry("unit-1", "b"),
      entry("unit-1", "used"),
      entry("unit-2", "c"),
      entry(undefined, "d"),
      entry("unit-1", undefined),
    ];
    expect(
      superfluousEntries(observed, { unitId: "unit-1" as UnitId, used: new Set(ids("used")), recorded: ids("used", "unseen") }),
    ).toEqual([environmentEntryName("unseen" as EnvironmentId), "entry-b"]);
  });
});
