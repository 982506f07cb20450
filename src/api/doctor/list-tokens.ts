import { asArray, asObject, asString, asTime } from "../../domain/json.ts";
import { ANNOTATION_TOKEN_ENDS, ANNOTATION_TOKEN_MADE, LABEL_ENVIRONMENT, LABEL_MANAGED_BY, MANAGED_BY } from "../../domain/names.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { TokenFound } from "./checks.ts";

/** Metadata alone: what an entry holds is secret. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** Entries for the API cluster. */
const SELECTOR = `${LABEL_MANAGED_BY}=${MANAGED_BY},argocd.argoproj.io/secret-type=cluster,!${LABEL_ENVIRONMENT}`;
/** Entries in one page: instances with an entry for each workspace have many. */
const PAGE = 1_000;

/** Lists the tokens by which the instances of a cluster enter the API cluster, without the tokens. */
export async function listTokens(client: KubeClient, signal: AbortSignal): Promise<readonly TokenFound[]> {
  const found: TokenFound[] = [];
  let more = "";
  do {
    const query = { labelSelector: SELECTOR, limit: PAGE, ...(more === "" ? {} : { continue: more }) };
    const page = asObject(await client.request({ method: "GET", path: "/api/v1/secrets", query, accept: METADATA_ONLY }, signal));
    found.push(...asArray(page["items"]).map(tokenOf));
    more = asString(asObject(page["metadata"])["continue"]);
  } while (more !== "");
  return found;
}

function tokenOf(item: unknown): TokenFound {
  const metadata = asObject(asObject(item)["metadata"]);
  const annotations = asObject(metadata["annotations"]);
  const [madeAt, endsAt] = [asTime(annotations[ANNOTATION_TOKEN_MADE]), asTime(annotations[ANNOTATION_TOKEN_ENDS])];
  const span = madeAt === undefined || endsAt === undefined ? undefined : { madeAt, endsAt };
  return { namespace: asString(metadata["namespace"]), span };
}
