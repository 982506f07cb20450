import type { Environment } from "../domain/environment.ts";
import type { UnitId } from "../domain/ids.ts";
import type { Application } from "../domain/workspace.ts";
import { type ApplicationPlacement, applicationFence, applicationLabels, type Destination } from "./application-placement.ts";
import { type DesiredObject, desire } from "./managed-object.ts";
import { ANNOTATION_POKE, environmentProjectName, environmentServer, projectName } from "./names.ts";

/** Entries of `status.history` that Argo CD keeps; each embeds the whole source. */
const HISTORY_LIMIT = 5;

/** Where an application is deployed to, in Argo CD's words. */
export interface Target {
  readonly server: string;
  readonly namespace: string;
}

/**
 * The target of an application: its own namespace, or what the environment it names stands for. `undefined` while that
 * environment may not be used: what is wanted needs a connected one, a cascade any that is still known. `own`: the cluster of the own
 * namespace as the instance addresses it, see `ownServer`.
 */
export function targetOf(
  { workspace }: Pick<ApplicationPlacement, "workspace">,
  { spec: { destination }, deletedAt }: Pick<Application, "spec" | "deletedAt">,
  { own, environment }: { readonly own: Pick<Destination, "server">; readonly environment: Environment | undefined },
): Target | undefined {
  if (destination.environment === undefined) return { server: own.server, namespace: workspace.namespace };
  if (environment === undefined || environment.apiUrl === "" || (deletedAt === undefined && environment.state !== "connected"))
    return undefined;
  return { server: environmentServer(environment), namespace: destination.namespace ?? "" };
}

/**
 * The Argo CD Application of one application on its owner. It carries no finalizer: at rest nothing may be deleted by deleting it.
 * `project`: another than the one it should name, see `projectOf`.
 */
export function renderApplication(
  placement: ApplicationPlacement,
  application: Application,
  target: Target,
  project?: string,
): DesiredObject {
  return desire({
    kind: "application",
    at: { namespace: placement.instance.namespace, name: application.argoName },
    labels: applicationLabels(placement, application),
    annotations: application.spec.refresh === undefined ? {} : { [ANNOTATION_POKE]: application.spec.refresh },
    fence: applicationFence(placement.unit, application),
    content: { spec: applicationSpec(placement.unit.id, application, target, project) },
  });
}

/** The project of its unit that an application is deployed by. */
export function projectOf(unitId: UnitId, { spec: { destination } }: Pick<Application, "spec">): string {
  return destination.environment === undefined ? projectName(unitId) : environmentProjectName(unitId);
}

/** What Argo CD is to do for an application. */
export function applicationSpec(
  unitId: UnitId,
  application: Application,
  target: Target,
  project = projectOf(unitId, application),
): Readonly<Record<string, unknown>> {
  return {
    project,
    source: renderSource(application),
    destination: { server: target.server, namespace: target.namespace },
    syncPolicy: renderSyncPolicy(application),
    revisionHistoryLimit: HISTORY_LIMIT,
  };
}

function renderSource(application: Application): object {
  const { repoUrl, path, targetRevision } = application.spec.source;
  return { repoURL: repoUrl, path, ...(targetRevision === "" ? {} : { targetRevision }) };
}

/**
 * Automated: whatever differs from Git is put right, without end, and a commit that mends what could not be deployed is what is tried next:
 * without `refresh` Argo CD would try the one that failed for ever, and take up no other meanwhile. Manual: the options only, for the syncs users ask for. */
function renderSyncPolicy(application: Application): object {
  const options = syncOptions(application);
  if (application.spec.type === "manual") return { syncOptions: options };
  return {
    automated: { prune: true, selfHeal: true, allowEmpty: true },
    retry: { limit: -1, refresh: true, backoff: { duration: "5s", factor: 2, maxDuration: "3m" } },
    syncOptions: options,
  };
}

/** A deployment's own namespace is there, and its project permits no Namespace: with the option such a deployment would never be synced. */
export function syncOptions({ spec: { createNamespace, destination } }: Pick<Application, "spec">): readonly string[] {
  const makesNamespace = createNamespace && destination.environment !== undefined;
  return ["PrunePropagationPolicy=background", ...(makesNamespace ? ["CreateNamespace=true"] : [])];
}
