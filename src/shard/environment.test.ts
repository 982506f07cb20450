import { describe, expect, test } from "vitest";
import type { Environment, EnvironmentCredential } from "../domain/environment.ts";
import { FORBIDDEN_KINDS } from "../domain/forbidden-kinds.ts";
import type { EnvironmentId, RepositoryCredentialId, UnitId } from "../domain/ids.ts";
import type { Application } from "../domain/workspace.ts";
import { diffObject } from "./diff-object.ts";
import { parseEntry } from "./entry-token.ts";
import { type DesiredObject, manifestOf } from "./managed-object.ts";
import { environmentEntryName, environmentOfServer, environmentServer, projectName, serverPattern } from "./names.ts";
import { parseApplication, unitOf } from "./parse-application.ts";
import { parseCredential } from "./parse-credential.ts";
import { parseObject } from "./parse-object.ts";
import { CASCADE_FINALIZER, planAbsence } from "./plan-application.ts";
import { renderApplication, targetOf } from "./render-application.ts";
import { renderEnvironmentEntry, superfluousEntries } from "./render-environment.ts";
import { environmentCredentials, renderRepository, superfluousRepositories } from "./render-repository.ts";
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

const surroundings = (environments: readonly Environment[]) => ({
  ...{ destination: DESTINATION, namespaces: NAMESPACES, repoUrls: [], environmentRepoUrls: [], environments },
});

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

  test("belongs to the project of its unit's environments, so that it widens no other project", () => {
    const { environmentProject } = renderUnit(anApplicationPlacement(), surroundings([]));
    expect(dataOf()["project"]).toBe(environmentProject.at.name);
  });

  test("lists namespaces only where the environment does, and objects outside them only where it says so", () => {
    expect(dataOf({ namespaces: ["b", "a"] })).toMatchObject({ namespaces: "a,b" });
    expect(dataOf({ namespaces: ["a"] })).not.toHaveProperty("clusterResources");
    expect(dataOf({ namespaces: ["a"], clusterResources: true })["clusterResources"]).toBe("true");
    for (const field of ["namespaces", "clusterResources"])
      expect(dataOf({ namespaces: [], clusterResources: true })).not.toHaveProperty(field);
  });

  test("asks for the cluster to be read anew in an annotation, as long as its credential does, and is no other entry for that", () => {
    const entryOf = (readAgainAt?: number) =>
      renderEnvironmentEntry(
        anApplicationPlacement(),
        anEnvironment(),
        parseCredential(JSON.stringify({ server: "https://a", token: "t", readable: "mark", readAgainAt }), "https://a") ?? {
          server: "none",
        },
      );
    const asking = entryOf(Date.UTC(2026, 0, 1));
    expect(asking.annotations).toEqual({ "argocd.argoproj.io/refresh": "2026-01-01T00:00:00Z" });
    expect(entryOf().annotations).toEqual({});
    expect(entryOf().contentHash).toBe(asking.contentHash);
    const seen = (entry: typeof asking) => {
      const { metadata, ...rest } = manifestOf(entry);
      return parseEntry({ ...rest, metadata: { ...metadata, uid: "u", resourceVersion: "1" } });
    };
    expect(diffObject(asking, seen(asking))).toMatchObject({ kind: "settled" });
    expect(diffObject(asking, seen(entryOf()))).toMatchObject({ kind: "change", why: ["annotations"] });
  });

  test("holds a token or a certificate, and no authority for a certificate that goes unchecked", () => {
    expect(configOf({}, { token: "t", ca: "c" })).toEqual({ bearerToken: "t", tlsClientConfig: { insecure: false, caData: "Yw==" } });
    expect(configOf({ isInsecure: true }, { token: "t", ca: "c" })).toEqual({ bearerToken: "t", tlsClientConfig: { insecure: true } });
    expect(configOf({}, { certificate: { cert: "a", key: "b" } })).toEqual({
      tlsClientConfig: { insecure: false, certData: "YQ==", keyData: "Yg==" },
    });
  });
});

interface ProjectSpec {
  readonly sourceRepos: readonly string[];
  readonly destinations: readonly { readonly server: string; readonly namespace: string }[];
  readonly clusterResourceWhitelist?: unknown;
  readonly namespaceResourceBlacklist?: unknown;
}
const specOf = ({ content }: DesiredObject) => content["spec"] as ProjectSpec;
const own = { server: DESTINATION.server, namespace: "team-a" };
/** Environments of every form: one namespace, several, one and what is outside namespaces, everything. */
const FORMS = [{ namespaces: ["web"] }, { namespaces: ["web", "db"] }, { namespaces: ["web"], clusterResources: true }, { namespaces: [] }];

describe("the project of the own namespace", () => {
  const projectOf = (environments: readonly Environment[], isProjectShared = false) =>
    specOf(renderUnit(anApplicationPlacement(), { ...surroundings(environments), isProjectShared }).project);

  test.each(FORMS)("is the same whatever else the unit deploys to: %j", (form) => {
    expect(projectOf([anEnvironment(form)])).toEqual(projectOf([]));
    expect(projectOf([])).toMatchObject({ destinations: [own], namespaceResourceBlacklist: FORBIDDEN_KINDS });
    expect(projectOf([])).not.toHaveProperty("clusterResourceWhitelist");
  });

  test.each(FORMS)("permits what versions before wrote in it, as long as Applications name it for an environment: %j", (form) => {
    const environments = [anEnvironment(form)];
    const shared = projectOf(environments, true);
    const { environmentProject } = renderUnit(anApplicationPlacement(), surroundings(environments));
    expect(shared.destinations).toEqual([own, ...specOf(environmentProject).destinations]);
    expect(shared.clusterResourceWhitelist).toEqual(specOf(environmentProject).clusterResourceWhitelist);
    expect(shared).not.toHaveProperty("namespaceResourceBlacklist");
  });
});

describe("the project of environments", () => {
  const projectOf = (environments: readonly Environment[]) =>
    specOf(renderUnit(anApplicationPlacement(), surroundings(environments)).environmentProject);

  test("permits exactly their namespaces, and never the own one", () => {
    const server = serverPattern(there.server);
    expect(projectOf([anEnvironment({ namespaces: ["web", "db"] })]).destinations).toEqual([
      { server, namespace: "web" },
      { server, namespace: "db" },
    ]);
    expect(projectOf([anEnvironment({ namespaces: [] })]).destinations).toEqual([{ server, namespace: "*" }]);
  });

  test.each([
    [[], false],
    [[anEnvironment({ namespaces: ["web"] })], false],
    [[anEnvironment({ namespaces: ["web"], clusterResources: true })], true],
    [[anEnvironment({ namespaces: [] })], true],
  ] as const)("permits kinds outside namespaces only for an environment that allows them: %#", (environments, isAllowed) => {
    expect(projectOf(environments).clusterResourceWhitelist !== undefined).toBe(isAllowed);
  });

  test("permits no repository that nothing is deployed from to an environment", () => {
    const { environmentProject } = renderUnit(anApplicationPlacement(), {
      ...surroundings([anEnvironment()]),
      ...{ repoUrls: ["https://git.example/a", "https://git.example/b"], environmentRepoUrls: ["https://git.example/b"] },
    });
    expect(specOf(environmentProject).sourceRepos).toEqual(["https://git.example/b"]);
  });
});

describe("the project that an Application names", () => {
  const named = (application: Application) =>
    (renderApplication(anApplicationPlacement(), application, TARGET).content["spec"] as { readonly project: string }).project;

  test("is that of the own namespace, or of the environments", () => {
    const { project, environmentProject } = renderUnit(anApplicationPlacement(), surroundings([]));
    expect(named(anApplication())).toBe(project.at.name);
    expect(named(elsewhere)).toBe(environmentProject.at.name);
  });

  test.each([
    { what: "of an environment, as it is written", by: [elsewhere, there], expected: "environment-project" },
    {
      what: "of an environment, as versions before wrote it",
      by: [elsewhere, there, projectName("unit-1" as UnitId)],
      expected: "own-project",
    },
    { what: "of an environment, and is another unit's", by: [elsewhere, there, projectName("unit-2" as UnitId)], expected: undefined },
    { what: "of the own namespace", by: [anApplication(), TARGET], expected: undefined },
  ] as const)("is recognised: $what", ({ by: [application, to, project], expected }) => {
    const raw = stored(renderApplication(anApplicationPlacement(), application, to, project));
    expect(parseApplication(raw)?.entersBy).toBe(expected);
  });
});

describe("repository Secrets for environments", () => {
  const credential = (name: string, spelling?: string) => ({
    ...{ id: name as RepositoryCredentialId, url: `https://git.example/${name}` },
    ...(spelling === undefined ? {} : { spelling }),
  });

  test("are those of what is deployed there, as it is spelled there", () => {
    const all = [credential("a"), credential("b"), credential("b", "https://git.example:443/b")];
    expect(environmentCredentials(all, ["https://git.example:443/b"])).toEqual([
      { ...credential("b", "https://git.example:443/b"), isForEnvironments: true },
    ]);
    expect(environmentCredentials(all, [])).toEqual([]);
  });

  test("stand beside those of the own namespace, say whose they are, and are not taken for Secrets of one project by versions before", () => {
    const render = (isForEnvironments: boolean) =>
      renderRepository(anApplicationPlacement(), { ...credential("a"), isForEnvironments }, { kind: "bearer", token: "t" });
    const [mine, theirs] = [render(false), render(true)];
    expect(mine.at.name).not.toBe(theirs.at.name);
    expect([mine, theirs].map(unitOf)).toEqual(["unit-1", "unit-1"]);
    expect(theirs.labels).not.toHaveProperty("argosy.dev/unit");
    const observed = [mine, theirs].flatMap((one) => parseObject("repository", stored(one)) ?? []);
    const superfluous = (keys: Parameters<typeof superfluousRepositories>[2]) =>
      superfluousRepositories(observed, "unit-1" as UnitId, keys).map(({ at }) => at.name);
    expect(superfluous([credential("a")])).toEqual([theirs.at.name]);
    expect(superfluous([credential("a"), { ...credential("a"), isForEnvironments: true }])).toEqual([]);
    expect(superfluousRepositories(observed, "unit-2" as UnitId, [])).toEqual([]);
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
