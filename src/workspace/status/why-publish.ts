import type { ObservedDeployment } from "../../domain/user-resource.ts";
import { type ComposedStatus, isShown } from "./deployment-status.ts";

export interface PublicationFacts {
  readonly resource: ObservedDeployment;
  readonly composed: ComposedStatus;
  /** Hash of what was written last; absent where there is no row to keep it. */
  readonly publishedHash: string | undefined;
}

/**
 * Why a status has to be written; `undefined` if the resource says it already. The hash covers everything that is written,
 * the conditions seen tell whether somebody else took it away again.
 */
export function whyPublish({ resource, composed, publishedHash }: PublicationFacts): "new" | "lost" | undefined {
  if (publishedHash !== undefined && publishedHash !== composed.hash) return "new";
  return isShown(resource, composed) ? undefined : "lost";
}
