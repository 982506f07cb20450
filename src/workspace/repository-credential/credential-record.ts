import { writeRepositorySecret } from "../../domain/repository-credential.ts";
import type { ObservedNamespace, ObservedResource } from "../../domain/user-resource.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import type { Wanted } from "./plan-review.ts";

export interface RecordFacts {
  readonly resource: ObservedResource;
  readonly namespace: ObservedNamespace;
  readonly secretVersion: string | undefined;
  readonly apiCluster: string;
  readonly newUnit: WorkspacePolicy["newUnit"];
}

/** What the store is told of a credential that was seen to work; `undefined` while there is no place it could be used in. */
export function recordOf(wanted: Wanted | undefined, { resource, namespace, secretVersion, apiCluster, newUnit }: RecordFacts) {
  if (wanted === undefined || secretVersion === undefined || newUnit === undefined) return undefined;
  const { name, uid, generation, createdAt } = resource;
  const plane = "kubernetes" as const;
  return {
    ...{ name, uid, generation, createdAt, secretVersion, class: newUnit.class },
    ...{ url: wanted.address.url, urlKey: wanted.address.key, secret: writeRepositorySecret(wanted.secret) },
    workspace: { plane, apiCluster, namespace: namespace.name, namespaceUid: namespace.uid, trustClass: newUnit.trustClass },
  };
}
