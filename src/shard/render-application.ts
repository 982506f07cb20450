import type { Application } from "../domain/workspace.ts";
import type { DesiredObject } from "./managed-object.ts";
import { desire } from "./managed-object.ts";
import { ANNOTATION_POKE, projectName } from "./names.ts";
import type { Destination, Seat } from "./seat.ts";
import { applicationFence, applicationLabels } from "./seat.ts";

/** Entries of `status.history` that Argo CD keeps; each embeds the whole source. */
const HISTORY_LIMIT = 5;

/** The Argo CD Application of one application on its owner. It carries no finalizer: at rest nothing may be deleted by deleting it. */
export function renderApplication(seat: Seat, application: Application, destination: Destination): DesiredObject {
  return desire({
    kind: "application",
    at: { namespace: seat.instance.namespace, name: application.argoName },
    labels: applicationLabels(seat, application),
    annotations: application.spec.refresh === undefined ? {} : { [ANNOTATION_POKE]: application.spec.refresh },
    fence: applicationFence(seat.unit, application),
    content: {
      spec: {
        project: projectName(seat.unit.id),
        source: renderSource(application),
        destination: { server: destination.server, namespace: seat.workspace.namespace },
        syncPolicy: renderSyncPolicy(application),
        revisionHistoryLimit: HISTORY_LIMIT,
      },
    },
  });
}

function renderSource(application: Application): object {
  const { repoUrl, path, targetRevision } = application.spec.source;
  return { repoURL: repoUrl, path, ...(targetRevision === "" ? {} : { targetRevision }) };
}

/** Automated: whatever differs from Git is put right, without end. Manual: the options only, for the syncs users ask for. */
function renderSyncPolicy(application: Application): object {
  const syncOptions = ["PrunePropagationPolicy=background", ...(application.spec.createNamespace ? ["CreateNamespace=true"] : [])];
  if (application.spec.type === "manual") return { syncOptions };
  return {
    automated: { prune: true, selfHeal: true, allowEmpty: true },
    retry: { limit: -1, backoff: { duration: "5s", factor: 2, maxDuration: "3m" } },
    syncOptions,
  };
}
