import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { millis } from "../domain/clock.ts";
import type { EnvironmentId, InstanceId, RepositoryCredentialId, UnitId } from "../domain/ids.ts";
import { ownServer } from "./application-placement.ts";
import { manifestOf } from "./managed-object.ts";
import { renderApplication, targetOf } from "./render-application.ts";
import { renderEnvironmentEntry } from "./render-environment.ts";
import { renderClusterEntry, renderIdentity, renderImpersonation, renderWorkspaceEntry } from "./render-instance.ts";
import { renderRepository } from "./render-repository.ts";
import { renderReader, renderUnit } from "./render-unit.ts";
import { anApplication, anApplicationPlacement, anEnvironment, DESTINATION, NAMESPACES, TARGET } from "./testing/builders.ts";

const INSTANCE = "instance-1" as InstanceId;
const TOKEN = {
  token: "a-token",
  madeAt: millis(Date.UTC(2026, 0, 1)),
  endsAt: millis(Date.UTC(2026, 0, 1, 12)),
  accountUid: "account-uid",
};
const text = (...objects: readonly Parameters<typeof manifestOf>[0][]): string =>
  objects.map((object) => stringify(manifestOf(object), { aliasDuplicateObjects: false, lineWidth: 0 })).join("---\n");

describe("what is written", () => {
  test("for an application that follows Git", async () => {
    await expect(
      text(
        renderApplication(
          anApplicationPlacement(),
          anApplication({}, { createNamespace: true, destination: { environment: "prod", namespace: "web" } }),
          TARGET,
        ),
      ),
    ).toMatchFileSnapshot("testing/application-automated.golden.yaml");
  });

  test("for an application that is synced on demand", async () => {
    const source = { repoUrl: "https://git.example/team/app", path: ".", targetRevision: "" };
    await expect(
      text(renderApplication(anApplicationPlacement(), anApplication({}, { type: "manual", source }), TARGET)),
    ).toMatchFileSnapshot("testing/application-manual.golden.yaml");
  });

  test("for a unit", async () => {
    const repoUrls = ["https://git.example/team/b", "https://git.example/team/a", "https://git.example/team/a"];
    const { account, ownerBinding, project } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls,
      environmentRepoUrls: [],
      environments: [],
    });
    await expect(text(account, ownerBinding, project)).toMatchFileSnapshot("testing/unit.golden.yaml");
  });

  test("for a unit that deploys to environments", async () => {
    const namespaced = anEnvironment({ namespaces: ["web", "db"] });
    const whole = anEnvironment({ id: "environment-2" as EnvironmentId, apiUrl: "https://[2001:db8::7]:6443", namespaces: [] });
    const { project, environmentProject } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: ["https://git.example/team/a", "https://git.example/team/app"],
      environmentRepoUrls: ["https://git.example/team/app"],
      environments: [namespaced, whole],
    });
    const credential = { server: namespaced.apiUrl, token: "a-token", ca: "a-ca", serverName: "prod" };
    const readable = {
      ...{ id: "credential-1" as RepositoryCredentialId, url: "https://git.example/team/app", isForEnvironments: true },
    };
    const pair = { server: whole.apiUrl, certificate: { cert: "a-cert", key: "a-key" } };
    const elsewhere = anApplication({}, { destination: { environment: "prod", namespace: "web" } });
    const target = targetOf(anApplicationPlacement(), elsewhere, { own: DESTINATION, environment: namespaced });
    await expect(
      text(
        project,
        environmentProject,
        renderRepository(anApplicationPlacement(), readable, { kind: "bearer", token: "a-token" }),
        renderEnvironmentEntry(anApplicationPlacement(), namespaced, credential),
        renderEnvironmentEntry(anApplicationPlacement(), whole, pair),
        renderApplication(anApplicationPlacement(), elsewhere, target ?? TARGET),
      ),
    ).toMatchFileSnapshot("testing/environments.golden.yaml");
  });

  test("for a unit on an instance with an entry for each workspace", async () => {
    const shared = anApplicationPlacement();
    const placement = { ...shared, instance: { ...shared.instance, entries: "per-workspace" as const } };
    const { project } = renderUnit(placement, {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: ["https://git.example/team/app"],
      environmentRepoUrls: [],
      environments: [],
    });
    const own = { server: ownServer(placement, DESTINATION) };
    const application = anApplication();
    const target = targetOf(placement, application, { own, environment: undefined });
    await expect(
      text(
        renderReader(placement, NAMESPACES),
        project,
        renderWorkspaceEntry(placement, DESTINATION, TOKEN),
        renderApplication(placement, application, target ?? TARGET),
        renderClusterEntry(placement.instance, DESTINATION, TOKEN),
      ),
    ).toMatchFileSnapshot("testing/workspace-entry.golden.yaml");
  });

  test("for an instance", async () => {
    const { account, reader, impersonation } = renderIdentity(INSTANCE, NAMESPACES);
    const role = renderImpersonation(INSTANCE, ["unit-2", "unit-1", "unit-1"] as UnitId[], NAMESPACES);
    const entry = renderClusterEntry({ id: INSTANCE, namespace: "argocd-1", entries: "shared" }, DESTINATION, {
      ...TOKEN,
      refreshAt: "2026-01-01T00:00:00.000Z",
    });
    await expect(text(account, reader, impersonation, role, entry)).toMatchFileSnapshot("testing/instance.golden.yaml");
  });
});

describe("an entry for each workspace", () => {
  const apart = (id: string, instance = "instance-1") => {
    const placement = anApplicationPlacement({ id: id as UnitId });
    return { ...placement, instance: { ...placement.instance, id: instance as InstanceId, entries: "per-workspace" as const } };
  };

  test("addresses the API cluster in another way for each unit, and in the same way on each such instance", () => {
    const servers = [apart("unit-1"), apart("unit-2")].map((placement) => ownServer(placement, DESTINATION));
    expect(new Set([...servers, DESTINATION.server]).size).toBe(3);
    expect(ownServer(apart("unit-1", "instance-2"), DESTINATION)).toBe(servers[0]);
    for (const server of servers) expect(new URL(server).origin).toBe(new URL(DESTINATION.server).origin);
  });

  test("has one right to read for each unit on each instance, without a fence that users could forge", () => {
    const readers = [apart("unit-1"), apart("unit-2"), apart("unit-1", "instance-2")].map((one) => renderReader(one, NAMESPACES));
    expect(new Set(readers.map(({ at }) => at.name)).size).toBe(3);
    expect(readers.map(({ fence }) => fence)).toEqual([undefined, undefined, undefined]);
  });
});

describe("tenancy", () => {
  const projectSpec = (repoUrls: readonly string[]) =>
    renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls,
      environmentRepoUrls: [],
      environments: [],
    }).project.content["spec"] as {
      sourceRepos: string[];
    };

  test("no repository's URL can be read as a pattern", () => {
    expect(
      projectSpec(["*", "!https://git.example/a", "https://git.example/{a,b}", "https://git.example/[a]"]).sourceRepos.join(),
    ).not.toMatch(/[*!{}[\]]/);
  });

  test("S2: one project permits the own namespace, the other what its environments permit, each by name", () => {
    const environments = [anEnvironment({ namespaces: ["web"] })];
    const { project, environmentProject } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environmentRepoUrls: [],
      environments,
    });
    const destinationsOf = ({ content }: typeof project) =>
      (content["spec"] as { readonly destinations: readonly Readonly<Record<string, string>>[] }).destinations.map(
        ({ server = "", namespace }) => [server.replace(/\\\?.*/, ""), namespace],
      );
    expect(destinationsOf(project)).toEqual([[DESTINATION.server, "team-a"]]);
    expect(destinationsOf(environmentProject)).toEqual([["https://prod.example:6443", "web"]]);
  });

  test("an instance without units may act as nobody", () => {
    expect(renderImpersonation(INSTANCE, [], NAMESPACES).content).toEqual({ rules: [] });
  });

  test("accounts, owner bindings and projects tell neither names nor ids of tenants", () => {
    const { account, project, environmentProject } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environmentRepoUrls: [],
      environments: [],
    });
    for (const name of [account.at.name, project.at.name, environmentProject.at.name]) expect(name).toMatch(/^(u|ws|we)-[0-9a-f]{20}$/);
  });

  test("each part of a split workspace has an owner binding and an account of its own", () => {
    const whole = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environmentRepoUrls: [],
      environments: [],
    });
    const part = renderUnit(anApplicationPlacement({ id: "unit-2" as UnitId, bucket: 1 }), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environmentRepoUrls: [],
      environments: [],
    });
    expect(part.ownerBinding.at).not.toEqual(whole.ownerBinding.at);
    expect(part.account.at).not.toEqual(whole.account.at);
  });

  test("a server that the system's authorities vouch for needs no CA certificates in its entry", () => {
    const entry = renderClusterEntry(
      { id: INSTANCE, namespace: "argocd-1", entries: "shared" },
      { server: "https://a", caData: "" },
      { ...TOKEN, token: "t" },
    );
    const data = entry.content["data"] as { config: string };
    expect(JSON.parse(Buffer.from(data.config, "base64").toString())).toEqual({ bearerToken: "t", tlsClientConfig: { insecure: false } });
  });
});

test("a deployment into its own namespace asks for no namespace, or it would never be synced", () => {
  const rendered = renderApplication(anApplicationPlacement(), anApplication({}, { createNamespace: true, destination: {} }), TARGET);
  expect(JSON.stringify(rendered.content)).not.toContain("CreateNamespace");
});
