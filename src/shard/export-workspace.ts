import type { EngineObject } from "../domain/engine.ts";
import type { Environment } from "../domain/environment.ts";
import { chosenCredentials, type RepositoryCredential, repositoryKey } from "../domain/repository-credential.ts";
import { placeOf } from "../domain/repository-spelling.ts";
import type { Application, Workspace } from "../domain/workspace.ts";
import { applicationSpec, projectOf, type Target } from "./render-application.ts";
import { environmentRights } from "./render-environment.ts";
import { projectFence } from "./render-unit.ts";

const ARGO = "argoproj.io/v1alpha1";

/** An ordinary Argo CD that is to take applications over. */
interface Taker {
  /** Where it keeps its Applications. */
  readonly namespace: string;
  /** How it addresses the API cluster. */
  readonly server: string;
}

/** One application of the workspace, with what its destination names. */
export interface ExportedRow {
  readonly application: Application;
  readonly environment: Environment | undefined;
}

/** What the Argo CD has to be given by hand: a cluster by its URL, or a private repository's credential. */
interface ExportNeed {
  readonly kind: "cluster" | "repository";
  readonly url: string;
}

interface WorkspaceExport {
  /** Projects, then Applications, each by name. */
  readonly objects: readonly EngineObject[];
  readonly leftOut: readonly { readonly application: string; readonly reason: string }[];
  /** Sorted, each once. Credentials themselves are never printed. */
  readonly needs: readonly ExportNeed[];
}

interface Exportable extends ExportedRow {
  readonly target: Target;
}

/**
 * A workspace's applications as an ordinary Argo CD takes them as they are: under the names that what is deployed is tracked by, in
 * projects that permit what Argosy's permit, and with nothing of Argosy's on them: no label, no annotation, no finalizer, no account
 * to act as. An environment is addressed by its plain URL. Left out is what is being deleted, and what deploys to an environment
 * whose cluster was never known.
 */
export function exportWorkspace(
  facts: {
    readonly workspace: Pick<Workspace, "namespace">;
    readonly rows: readonly ExportedRow[];
    readonly credentials: readonly RepositoryCredential[];
  },
  taker: Taker,
): WorkspaceExport {
  const kept: Exportable[] = [];
  const leftOut: { readonly application: string; readonly reason: string }[] = [];
  const own = { server: taker.server, namespace: facts.workspace.namespace };
  for (const row of facts.rows.toSorted(byArgoName)) {
    const target = plainTarget(row, own);
    if (typeof target === "string") leftOut.push({ application: row.application.name, reason: target });
    else kept.push({ ...row, target });
  }
  const nameOf = ({ application }: Exportable) => projectOf(application.unitId, application);
  const projects = [...new Set(kept.map(nameOf))].map((name) =>
    plainProject(
      name,
      kept.filter((row) => nameOf(row) === name),
      { own, namespace: taker.namespace },
    ),
  );
  return {
    objects: [...projects.toSorted(byName), ...kept.map((row) => plainApplication(row, taker))],
    leftOut,
    needs: needsOf(kept, facts.credentials),
  };
}

/** Where it is deployed to, or why that cannot be said. */
function plainTarget({ application: { spec, deletedAt }, environment }: ExportedRow, own: Target): Target | string {
  if (deletedAt !== undefined) return "it is being deleted";
  const { destination } = spec;
  if (destination.environment === undefined) return own;
  if (environment === undefined || environment.apiUrl === "") return `its environment ${destination.environment} was never connected`;
  return { server: environment.apiUrl, namespace: destination.namespace ?? "" };
}

function plainApplication({ application, target }: Exportable, { namespace }: Taker): EngineObject {
  const metadata = { name: application.argoName, namespace };
  return { apiVersion: ARGO, kind: "Application", metadata, spec: applicationSpec(application.unitId, application, target) };
}

/** The project of applications that all name it: for their own namespace, or for environments. */
function plainProject(name: string, rows: readonly Exportable[], at: { readonly own: Target; readonly namespace: string }): EngineObject {
  const environments = new Map(rows.flatMap(({ environment }) => (environment ? [[environment.id, environment] as const] : [])));
  const spec = projectFence({
    targets: environments.size === 0 ? [at.own] : [],
    rights: [...environments.values()].toSorted(byId).map((environment) => environmentRights(environment, environment.apiUrl)),
    repoUrls: rows.map(({ application }) => application.spec.source.repoUrl),
  });
  return { apiVersion: ARGO, kind: "AppProject", metadata: { name, namespace: at.namespace }, spec };
}

function needsOf(rows: readonly Exportable[], credentials: readonly RepositoryCredential[]): readonly ExportNeed[] {
  const clusters = rows.flatMap(({ environment }) => (environment === undefined ? [] : [environment.apiUrl]));
  const used = new Set(rows.map(({ application }) => repositoryKey(placeOf(application.spec.source.repoUrl))));
  const repositories = chosenCredentials(credentials).filter(({ url }) => used.has(repositoryKey(placeOf(url))));
  return [
    ...[...new Set(clusters)].sort().map((url) => ({ kind: "cluster", url }) as const),
    ...repositories.map(({ url }) => ({ kind: "repository", url }) as const),
  ];
}

const byArgoName = (a: ExportedRow, b: ExportedRow): number => (a.application.argoName < b.application.argoName ? -1 : 1);
const byId = (a: Environment, b: Environment): number => (a.id < b.id ? -1 : 1);
const byName = (a: EngineObject, b: EngineObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);
