import { createTokenReviews } from "../api/identity/adapters/kubernetes/token-reviews.ts";
import { createIssuerDocuments } from "../api/identity/adapters/oidc/issuer-documents.ts";
import type { Identities, RoleMapping } from "../api/identity/port.ts";
import { createIdentities } from "../api/identity/recognise.ts";
import type { Config } from "../config.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import type { Context } from "./context.ts";

type Mapping = Config["authentication"]["issuers"][number]["roles"][number];

/** Recognises callers as the configuration says. */
export function makeIdentities({
  config,
  clock,
  log,
  apiCluster,
}: Pick<Context, "clock" | "log"> & {
  readonly config: Pick<Config, "authentication">;
  readonly apiCluster: Pick<KubeClient, "request">;
}): Identities {
  const { issuers, kubernetes } = config.authentication;
  const cluster = kubernetes && {
    reviews: createTokenReviews(apiCluster, kubernetes.audiences),
    mappings: kubernetes.roles.map(mappingOf),
    rememberMs: kubernetes.rememberMs,
  };
  return createIdentities({
    ...{ clock, log },
    ...(cluster === undefined ? {} : { cluster }),
    issuers: issuers.map(({ roles, groupsClaim, ...issuer }) => ({
      ...issuer,
      groupsClaim: typeof groupsClaim === "string" ? [groupsClaim] : groupsClaim,
      mappings: roles.map(mappingOf),
      documents: createIssuerDocuments(issuer),
    })),
  });
}

function mappingOf({ role, groups = [], names = [], classes, workspaces }: Mapping): RoleMapping {
  const scope = { ...(classes === undefined ? {} : { classes }), ...(workspaces === undefined ? {} : { workspaces }) };
  return { role, groups, names, ...(Object.keys(scope).length === 0 ? {} : { scope }) };
}
