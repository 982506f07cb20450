import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ApplicationId, CredentialId, EnvironmentId, RepositoryCredentialId, UnitId } from "../domain/ids.ts";
import type { RepositoryCredential } from "../domain/repository-credential.ts";
import { type ExportedRow, exportWorkspace } from "./export-workspace.ts";
import { environmentProjectName, projectName } from "./names.ts";
import { renderApplication } from "./render-application.ts";
import { renderUnit } from "./render-unit.ts";
import { anApplication, anApplicationPlacement, anEnvironment, DESTINATION, NAMESPACES, TARGET } from "./testing/builders.ts";

const TAKER = { namespace: "argocd", server: DESTINATION.server };
const { workspace } = anApplicationPlacement();
const exported = (rows: readonly ExportedRow[], credentials: readonly RepositoryCredential[] = []) =>
  exportWorkspace({ workspace, rows, credentials }, TAKER);
const own = (name: string, over: Parameters<typeof anApplication>[0] = {}): ExportedRow => ({
  application: anApplication({ id: name as ApplicationId, name, argoName: `team-a-${name}`, ...over }),
  environment: undefined,
});
const elsewhere = (name: string, environment = anEnvironment()): ExportedRow => ({
  application: anApplication({ name, argoName: `team-a-${name}` }, { destination: { environment: environment.name, namespace: "web" } }),
  environment,
});
const aCredential = (url: string): RepositoryCredential => ({
  id: "credential-1" as RepositoryCredentialId,
  workspaceId: workspace.id,
  name: "git",
  uid: "uid-1",
  generation: 1,
  createdAt: "2026-01-01T00:00:00Z",
  url,
  urlKey: url.replace(/\.git$/, ""),
  credentialId: "secret-1" as CredentialId,
  secretVersion: "1",
});

describe("P10: what an ordinary Argo CD takes over", () => {
  it("is what stands, under the name it is tracked by, with nothing of Argosy's on it", () => {
    const row = own("web");
    const [project, application] = exported([row]).objects;
    const standing = renderApplication(anApplicationPlacement(), row.application, TARGET);
    expect(application).toEqual({
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: { name: "team-a-web", namespace: "argocd" },
      spec: standing.content["spec"],
    });
    expect(project?.metadata).toEqual({ name: projectName(anApplicationPlacement().unit.id), namespace: "argocd" });
    expect(JSON.stringify([project, application])).not.toMatch(
      /argosy\.dev\/(epoch|revision|unit|instance|hash)|argosy-accounts|finalizer/,
    );
  });

  it("has projects that permit what Argosy's permit, and name nobody to act as", () => {
    const rows = [own("web"), own("api")];
    const standing = renderUnit(anApplicationPlacement(), {
      destination: DESTINATION,
      namespaces: NAMESPACES,
      repoUrls: rows.map(({ application }) => application.spec.source.repoUrl),
      environmentRepoUrls: [],
      environments: [],
    }).project.content["spec"] as Readonly<Record<string, unknown>>;
    const { destinationServiceAccounts, ...fence } = standing;
    expect(destinationServiceAccounts).toBeDefined();
    expect(exported(rows).objects[0]?.["spec"]).toEqual(fence);
  });

  it("has another project for what goes to environments, so that neither permits what the other does", () => {
    const { objects } = exported([own("web"), elsewhere("far", anEnvironment({ namespaces: ["web"], clusterResources: true }))]);
    const projects = objects.filter(({ kind }) => kind === "AppProject");
    expect(projects.map(({ metadata }) => metadata.name)).toEqual([
      environmentProjectName("unit-1" as UnitId),
      projectName("unit-1" as UnitId),
    ]);
    expect(projects[0]?.["spec"]).toMatchObject({
      destinations: [{ server: "https://prod.example:6443", namespace: "web" }],
      clusterResourceWhitelist: [{ group: "*", kind: "*" }],
    });
    expect(projects[1]?.["spec"]).toMatchObject({ destinations: [{ server: TAKER.server, namespace: "team-a" }] });
    expect(projects[1]?.["spec"]).not.toHaveProperty("clusterResourceWhitelist");
    const named = objects.filter(({ kind }) => kind === "Application").map(({ spec }) => (spec as { readonly project: string }).project);
    expect(named.sort()).toEqual(projects.map(({ metadata }) => metadata.name));
  });

  it("names the API cluster as the one who takes it does, and environments by their plain URL", () => {
    const taker = { ...TAKER, server: "https://kubernetes.default.svc" };
    const rows = [own("web"), elsewhere("far")];
    const { objects, needs } = exportWorkspace({ workspace, rows, credentials: [] }, taker);
    const servers = objects.flatMap((object) => (JSON.stringify(object).match(/"server":"[^"]*"/g) ?? []).map(String));
    expect(new Set(servers)).toEqual(new Set(['"server":"https://kubernetes.default.svc"', '"server":"https://prod.example:6443"']));
    expect(needs).toEqual([{ kind: "cluster", url: "https://prod.example:6443" }]);
  });

  it("comes in order: projects, then Applications, each by name", () => {
    const part = { unitId: "unit-2" as UnitId };
    const { objects } = exported([own("web"), own("api", part), own("mail")]);
    expect(objects.map(({ kind }) => kind)).toEqual(["AppProject", "AppProject", "Application", "Application", "Application"]);
    expect(objects.slice(2).map(({ metadata }) => metadata.name)).toEqual(["team-a-api", "team-a-mail", "team-a-web"]);
    const projects = objects.slice(0, 2).map(({ metadata }) => metadata.name);
    expect(projects).toEqual([...projects].sort());
    expect(new Set(projects)).toEqual(new Set([projectName("unit-1" as UnitId), projectName("unit-2" as UnitId)]));
  });

  it("leaves out what is being deleted and what has no known cluster, says so, and makes no project for these alone", () => {
    const nowhere = anApplication({ name: "lost" }, { destination: { environment: "gone", namespace: "web" } });
    const unknown = elsewhere("new", anEnvironment({ id: "environment-2" as EnvironmentId, name: "new", apiUrl: "" }));
    const rows = [own("old", { deletion: "cascade", deletedAt: millis(1) }), { application: nowhere, environment: undefined }, unknown];
    expect(exported(rows)).toEqual({
      objects: [],
      needs: [],
      leftOut: [
        { application: "new", reason: "its environment new was never connected" },
        { application: "old", reason: "it is being deleted" },
        { application: "lost", reason: "its environment gone was never connected" },
      ],
    });
  });

  it("says which repositories need a credential, and prints none", () => {
    const credentials = [aCredential("https://git.example/team/app.git"), aCredential("https://git.example/unused")];
    expect(exported([own("web")], credentials).needs).toEqual([{ kind: "repository", url: "https://git.example/team/app.git" }]);
  });
});
