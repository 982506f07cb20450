import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { EnvironmentId, InstanceId, UnitId } from "../domain/ids.ts";
import { manifestOf } from "./managed-object.ts";
import { renderApplication, targetOf } from "./render-application.ts";
import { renderEnvironmentEntry } from "./render-environment.ts";
import { renderClusterEntry, renderIdentity, renderImpersonation } from "./render-instance.ts";
import { renderUnit } from "./render-unit.ts";
import { anApplication, anApplicationPlacement, anEnvironment, DESTINATION, NAMESPACES, TARGET } from "./testing/builders.ts";

const INSTANCE = "instance-1" as InstanceId;
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
      environments: [],
    });
    await expect(text(account, ownerBinding, project)).toMatchFileSnapshot("testing/unit.golden.yaml");
  });

  test("for a unit that deploys to environments", async () => {
    const namespaced = anEnvironment({ namespaces: ["web", "db"] });
    const whole = anEnvironment({ id: "environment-2" as EnvironmentId, apiUrl: "https://[2001:db8::7]:6443", namespaces: [] });
    const { project } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: ["https://git.example/team/a"],
      environments: [namespaced, whole],
    });
    const credential = { server: namespaced.apiUrl, token: "a-token", ca: "a-ca", serverName: "prod" };
    const pair = { server: whole.apiUrl, certificate: { cert: "a-cert", key: "a-key" } };
    const elsewhere = anApplication({}, { destination: { environment: "prod", namespace: "web" } });
    const target = targetOf(anApplicationPlacement(), elsewhere, { own: DESTINATION, environment: namespaced });
    await expect(
      text(
        project,
        renderEnvironmentEntry(anApplicationPlacement(), namespaced, credential),
        renderEnvironmentEntry(anApplicationPlacement(), whole, pair),
        renderApplication(anApplicationPlacement(), elsewhere, target ?? TARGET),
      ),
    ).toMatchFileSnapshot("testing/environments.golden.yaml");
  });

  test("for an instance", async () => {
    const { account, token, reader, impersonation } = renderIdentity(INSTANCE, NAMESPACES);
    const role = renderImpersonation(INSTANCE, ["unit-2", "unit-1", "unit-1"] as UnitId[], NAMESPACES);
    const entry = renderClusterEntry({ id: INSTANCE, namespace: "argocd-1" }, DESTINATION, "a-token");
    await expect(text(account, token, reader, impersonation, role, entry)).toMatchFileSnapshot("testing/instance.golden.yaml");
  });
});

describe("tenancy", () => {
  const projectSpec = (repoUrls: readonly string[]) =>
    renderUnit(anApplicationPlacement(), { destination: DESTINATION, namespaces: NAMESPACES, repoUrls, environments: [] }).project.content[
      "spec"
    ] as {
      sourceRepos: string[];
    };

  test("no repository's URL can be read as a pattern", () => {
    expect(
      projectSpec(["*", "!https://git.example/a", "https://git.example/{a,b}", "https://git.example/[a]"]).sourceRepos.join(),
    ).not.toMatch(/[*!{}[\]]/);
  });

  test("S2: a project permits the own namespace and what its environments permit, each by name", () => {
    const environments = [anEnvironment({ namespaces: ["web"] })];
    const { project } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environments,
    });
    const { destinations } = project.content["spec"] as { readonly destinations: readonly Readonly<Record<string, string>>[] };
    expect(destinations.map(({ server = "", namespace }) => [server.replace(/\\\?.*/, ""), namespace])).toEqual([
      [DESTINATION.server, "team-a"],
      ["https://prod.example:6443", "web"],
    ]);
  });

  test("an instance without units may act as nobody", () => {
    expect(renderImpersonation(INSTANCE, [], NAMESPACES).content).toEqual({ rules: [] });
  });

  test("accounts, registers and projects tell neither names nor ids of tenants", () => {
    const { account, project } = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environments: [],
    });
    for (const name of [account.at.name, project.at.name]) expect(name).toMatch(/^(u|ws)-[0-9a-f]{20}$/);
  });

  test("each part of a split workspace has a register and an account of its own", () => {
    const whole = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environments: [],
    });
    const part = renderUnit(anApplicationPlacement({ id: "unit-2" as UnitId, bucket: 1 }), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: [],
      environments: [],
    });
    expect(part.ownerBinding.at).not.toEqual(whole.ownerBinding.at);
    expect(part.account.at).not.toEqual(whole.account.at);
  });

  test("a server that the system's authorities vouch for needs no bundle in its entry", () => {
    const entry = renderClusterEntry({ id: INSTANCE, namespace: "argocd-1" }, { server: "https://a", caData: "" }, "t");
    const data = entry.content["data"] as { config: string };
    expect(JSON.parse(Buffer.from(data.config, "base64").toString())).toEqual({ bearerToken: "t", tlsClientConfig: { insecure: false } });
  });
});

test("a deployment into its own namespace asks for no namespace, or it would never be synced", () => {
  const rendered = renderApplication(anApplicationPlacement(), anApplication({}, { createNamespace: true, destination: {} }), TARGET);
  expect(JSON.stringify(rendered.content)).not.toContain("CreateNamespace");
});
