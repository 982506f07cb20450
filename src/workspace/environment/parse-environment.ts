import type { Environment } from "../../domain/environment.ts";
import type { EgressSpec } from "../../domain/fleet.ts";
import type { UserSecret } from "../../domain/user-resource.ts";
import * as say from "../api/messages.ts";
import { dnsLabel, isObjectName } from "../api/parts/schema.ts";
import { checkEnvironmentSpec } from "../api/schema.ts";
import { whyNotReachable } from "../egress.ts";
import type { Problem } from "../problem.ts";
import { hasControlCharacters } from "../repository-url.ts";
import * as found from "./finding.ts";

/** What a GitOpsDeploymentManagedEnvironment asks for, without its credential. */
export interface EnvironmentRequest
  extends Pick<Environment, "apiUrl" | "namespaces" | "clusterResources" | "isInsecure" | "createsAccount"> {
  readonly secretName: string;
}

export type ParsedEnvironment =
  | { readonly ok: true; readonly request: EnvironmentRequest }
  | { readonly ok: false; readonly finding: found.EnvironmentFinding };

/** Type of the Secret that holds an environment's kubeconfig. */
export const SECRET_TYPE = "managed-gitops.redhat.com/managed-environment";

/** In each of them the account gets rights of its own, one object after the other, within one visit. */
const MOST_WITH_ACCOUNT = 100;

/** Reads what an environment asks for, or says the first thing that is wrong with it. The resource may be older than its schema. */
export function parseEnvironment(raw: unknown, egress: EgressSpec): ParsedEnvironment {
  const checked = checkEnvironmentSpec(raw);
  if (!checked.ok) {
    return refuse(findingFor(checked.problems[0] ?? { path: "spec.apiURL", message: say.WRONG_API_URL }));
  }
  const {
    apiURL,
    credentialsSecret,
    allowInsecureSkipTLSVerify,
    createNewServiceAccount,
    namespaces = [],
    clusterResources,
  } = checked.spec;
  const whyNot = whyNotUrl(apiURL);
  if (whyNot !== undefined) return refuse(found.unsupportedUrl(whyNot));
  const wrong = namespaces.findIndex((name) => name.length > 63 || !dnsLabel.test(name));
  if (wrong >= 0)
    return refuse(found.wrongNamespaces(`invalid namespace in spec.namespaces: spec.namespaces[${wrong}] is no name of a namespace`));
  if (createNewServiceAccount === true && namespaces.length > MOST_WITH_ACCOUNT)
    return refuse(
      found.wrongNamespaces(`spec.namespaces may list at most ${MOST_WITH_ACCOUNT} namespaces with spec.createNewServiceAccount`),
    );
  if (credentialsSecret === "") return refuse(found.noSecretNamed);
  if (!isObjectName(credentialsSecret)) return refuse(found.noSecretName);
  const url = new URL(apiURL);
  if (whyNotReachable(url.hostname, egress) !== undefined) return refuse(found.findingOf({ kind: "inside" }));
  return {
    ok: true,
    request: {
      apiUrl: `${url.origin}${url.pathname.replace(/\/+$/, "")}`,
      secretName: credentialsSecret,
      namespaces: [...new Set(namespaces)].sort(),
      clusterResources: clusterResources ?? false,
      isInsecure: allowInsecureSkipTLSVerify,
      createsAccount: createNewServiceAccount ?? false,
    },
  };
}

/** The reason users know for the field; for the others, that it is wrong. */
function findingFor({ path, message }: Problem): found.EnvironmentFinding {
  if (path.startsWith("spec.credentialsSecret")) return found.noSecretNamed;
  if (path.startsWith("spec.namespaces")) return found.wrongNamespaces(message);
  return path.startsWith("spec.apiURL") ? found.unsupportedUrl(message) : found.wrongSpec(message);
}

function refuse(finding: found.EnvironmentFinding): ParsedEnvironment {
  return { ok: false, finding };
}

/** The URL becomes a key in the instance's list of clusters, with a query of ours behind it. */
function whyNotUrl(text: string): string | undefined {
  if (/[?&]/.test(text)) return "the API URL must not have ? or & values";
  if (!text.startsWith("https://")) return say.WRONG_API_URL;
  if (hasControlCharacters(text) || /[\s"<>\\^`{|}*!#]/.test(text) || !URL.canParse(text)) return "cluster api url must be a valid URL";
  const { username, password, hostname } = new URL(text);
  return username !== "" || password !== "" || hostname === "" ? "cluster api url must not contain credentials" : undefined;
}

/** The Secret that a spec, be it valid or not, names. */
export function secretNameOf(raw: unknown): string | undefined {
  const name = (raw as { readonly credentialsSecret?: unknown } | null | undefined)?.credentialsSecret;
  return typeof name === "string" ? name : undefined;
}

/** The kubeconfig a Secret holds, or what is wrong with the Secret. */
export function kubeconfigOf(
  secret: UserSecret | undefined,
  name: string,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly finding: found.EnvironmentFinding } {
  if (secret === undefined) return { ok: false, finding: found.noSecret(name) };
  if (secret.type !== SECRET_TYPE) return { ok: false, finding: found.wrongSecretType(SECRET_TYPE) };
  const bytes = secret.data["kubeconfig"];
  if (bytes === undefined || bytes.length === 0) return { ok: false, finding: found.noKubeconfig };
  return { ok: true, text: new TextDecoder().decode(bytes) };
}
