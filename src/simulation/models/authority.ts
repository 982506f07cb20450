import { DEPLOYER_ROLE } from "../../domain/names.ts";
import { StatusAnswer } from "../../runtime/kube/testing/answers.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import type { Answer } from "../../runtime/kube/testing/resource-api.ts";
import type { World } from "../world/world.ts";
import { createEndpoint, type Endpoint } from "./endpoint.ts";
import { TRACKING } from "./engine/application.ts";
import { CONFIG_MAPS } from "./engine/cluster-cache.ts";
import { annotationsOf, type Front, type KubeServer, type ServerRequest } from "./kubernetes/server.ts";
import { textAt } from "./kubernetes/text.ts";

/** Who may write in users' namespaces, as the managed cluster's API servers see it: what the owner bindings were a moment ago. */
export interface Authority {
  /** One of its API servers stands still for that long: what reaches it meanwhile is answered when it wakes. */
  freeze(endpoint: number, forMs: number): void;
  /** A quota of the namespace is used up for that long: also an account that may write is refused. */
  useUp(namespace: string, forMs: number): void;
}

/** A request: who asks which API server about which namespace. */
interface Asked {
  readonly user: string;
  readonly account: string;
  readonly endpoint: Endpoint;
  readonly namespace: string;
}

export const IMPERSONATE = "impersonate-user";
const REVIEWS = "selfsubjectaccessreviews";

/**
 * Lets engines, and everybody else who impersonates an account, write only as an account that an owner binding names. All others are the
 * cluster itself or Argosy, whose roles are not modelled. Each request goes to a random one of the API servers behind the address.
 */
export function createAuthority(world: World, server: KubeServer, servers: number): Authority {
  const rng = world.rng.fork("authoriser");
  const endpoints = Array.from({ length: servers }, (_, index) => createEndpoint(world, rng.fork(`endpoint ${index}`), tell));
  const reported = new Map<string, string>();
  const usedUpUntil = new Map<string, number>();

  function tell(namespace: string): void {
    const accounts = [...new Set(endpoints.flatMap((each) => each.allowed(namespace)))].sort();
    if (reported.get(namespace) === accounts.join()) return;
    reported.set(namespace, accounts.join());
    world.record({ kind: "authority", namespace, accounts });
  }

  server.onChange(({ type, kind, object }) => {
    if (type.plural !== "rolebindings" || mapName(object["roleRef"]) !== DEPLOYER_ROLE) return;
    const ownerBinding = { namespace: textAt(metadataOf(object), "namespace"), name: nameOf(object) };
    for (const each of endpoints) each.hear(ownerBinding, kind === "DELETED" ? [] : subjectsOf(object));
  });

  async function review({ body }: ServerRequest, { endpoint, account }: Asked): Promise<Answer> {
    const { spec } = JSON.parse(body) as { readonly spec: { readonly resourceAttributes: { readonly namespace: string } } };
    await endpoint.awake();
    const isAllowed = endpoint.allowed(spec.resourceAttributes.namespace).includes(account);
    return { kind: "json", status: 201, body: { kind: "SelfSubjectAccessReview", status: { allowed: isAllowed } } };
  }

  /** A request that was let in is carried out a moment later, or when its API server wakes, even if the right was taken meanwhile. */
  async function write(request: ServerRequest, { endpoint, account, user, namespace }: Asked, effect: () => Answer) {
    const { by, target, method } = request;
    await endpoint.awake();
    const isAllowed = endpoint.allowed(namespace).includes(account);
    const isFull = (usedUpUntil.get(namespace) ?? 0) > world.elapsedMs();
    if (isAllowed && isFull) return refused(`configmaps is forbidden: exceeded quota in ${namespace}`);
    if (isAllowed) await endpoint.admit();
    const application = applicationOf(request, namespace);
    if (!target.includes("dryRun=All"))
      world.record({ kind: "engine-write", instance: by, account, namespace, application, taken: isAllowed });
    return isAllowed ? effect() : refused(`User "${user}" cannot ${method === "DELETE" ? "delete" : "create"} resource in ${namespace}`);
  }

  /** By the mark of what is sent, or of what stands there and is to go. */
  function applicationOf({ target, body }: ServerRequest, namespace: string): string {
    const sent = body === "" ? {} : (JSON.parse(body) as JsonMap);
    const name = /\/configmaps\/([^/?]+)/.exec(target)?.[1] ?? "";
    const marked = annotationsOf(sent)[TRACKING] ?? annotationsOf(server.objects.find(CONFIG_MAPS, { namespace, name }) ?? {})[TRACKING];
    return typeof marked === "string" ? marked.slice(0, marked.indexOf(":")) : "";
  }

  const front: Front = (request, { type, namespace }, carryOut) => {
    const user = request.headers[IMPERSONATE];
    const endpoint = user === undefined ? undefined : endpoints[Math.floor(rng.next() * endpoints.length)];
    if (user === undefined || endpoint === undefined || request.method === "GET") return undefined;
    const asked = { user, account: user.slice(user.lastIndexOf(":") + 1), endpoint, namespace };
    return type.plural === REVIEWS ? review(request, asked) : write(request, asked, carryOut);
  };
  server.setFront(front);
  return {
    freeze: (endpoint, forMs) => endpoints[endpoint % endpoints.length]?.freeze(forMs),
    useUp: (namespace, forMs) => void usedUpUntil.set(namespace, world.elapsedMs() + forMs),
  };
}

function refused(message: string): Answer {
  const { body } = new StatusAnswer(403, { message, reason: "Forbidden", details: {} });
  return { kind: "json", status: 403, body };
}

/** Names of the accounts in a binding. */
export function subjectsOf(binding: JsonMap): readonly string[] {
  const subjects = binding["subjects"];
  return Array.isArray(subjects) ? subjects.map(mapName) : [];
}

function mapName(value: unknown): string {
  return typeof value === "object" && value !== null && "name" in value ? String(value.name) : "";
}
