import { rfc3339 } from "../domain/clock.ts";
import { allowsClusterResources, type Environment, type EnvironmentCredential } from "../domain/environment.ts";
import { canonicalJson } from "../domain/hash.ts";
import type { EnvironmentId, UnitId } from "../domain/ids.ts";
import { LABEL_ENVIRONMENT, LABEL_UNIT } from "../domain/names.ts";
import { type ApplicationPlacement, unitFence, unitLabels } from "./application-placement.ts";
import { type DesiredObject, desire, type ObservedObject } from "./managed-object.ts";
import { ANNOTATION_REFRESH, environmentEntryName, environmentProjectName, environmentServer, serverPattern } from "./names.ts";

/** What an environment lets its unit do, in the words of a project. */
export interface EnvironmentRights {
  readonly destinations: readonly { readonly server: string; readonly namespace: string }[];
  readonly allowsClusterResources: boolean;
}

/** `address`: how who reads the project addresses the environment's cluster. */
export function environmentRights(environment: Environment, address = environmentServer(environment)): EnvironmentRights {
  const server = serverPattern(address);
  const namespaces = environment.namespaces.length === 0 ? ["*"] : environment.namespaces;
  return {
    destinations: namespaces.map((namespace) => ({ server, namespace })),
    allowsClusterResources: allowsClusterResources(environment),
  };
}

/**
 * The owner's entry for one environment, built field by field: nothing of a kubeconfig gets through but token, certificate and
 * authority. It names the project of the unit's
 * environments. Argo CD adds the cluster to what that project permits, and to no other. A cluster that is to be read anew has the time of that
 * in an annotation.
 */
export function renderEnvironmentEntry(
  placement: ApplicationPlacement,
  environment: Environment,
  credential: EnvironmentCredential,
): DesiredObject {
  const name = environmentEntryName(environment.id);
  const data = {
    name,
    server: environmentServer(environment),
    project: environmentProjectName(placement.unit.id),
    config: canonicalJson(renderConfig(environment, credential)),
    ...(environment.namespaces.length === 0 ? {} : { namespaces: [...environment.namespaces].sort().join(",") }),
    ...(environment.namespaces.length > 0 && environment.clusterResources ? { clusterResources: "true" } : {}),
  };
  return desire({
    kind: "entry",
    at: { namespace: placement.instance.namespace, name },
    labels: { ...unitLabels(placement), [LABEL_ENVIRONMENT]: environment.id, "argocd.argoproj.io/secret-type": "cluster" },
    annotations: credential.readAgainAt === undefined ? {} : { [ANNOTATION_REFRESH]: rfc3339(credential.readAgainAt) },
    fence: unitFence(placement.unit),
    content: { type: "Opaque", data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])) },
  });
}

/** Argo CD refuses an authority for a certificate that is not checked. */
function renderConfig({ isInsecure }: Environment, { token, certificate, ca, serverName }: EnvironmentCredential): object {
  return {
    ...(token === undefined ? {} : { bearerToken: token }),
    tlsClientConfig: {
      insecure: isInsecure,
      ...(isInsecure || ca === undefined ? {} : { caData: base64(ca) }),
      ...(serverName === undefined ? {} : { serverName }),
      ...(certificate === undefined ? {} : { certData: base64(certificate.cert), keyData: base64(certificate.key) }),
    },
  };
}

/**
 * Names of entries a unit has for environments it does not use, sorted: those that are seen, and those that were recorded, for what a
 * watch shows may be behind.
 */
export function superfluousEntries(
  observed: readonly Pick<ObservedObject, "at" | "labels">[],
  {
    unitId,
    used,
    recorded,
  }: { readonly unitId: UnitId; readonly used: ReadonlySet<EnvironmentId>; readonly recorded: readonly EnvironmentId[] },
): readonly string[] {
  const seen = observed.flatMap(({ at, labels }) => {
    const environment = labels[LABEL_ENVIRONMENT] as EnvironmentId | undefined;
    return labels[LABEL_UNIT] !== unitId || environment === undefined || used.has(environment) ? [] : [at.name];
  });
  return [...new Set([...seen, ...recorded.filter((id) => !used.has(id)).map(environmentEntryName)])].sort();
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
