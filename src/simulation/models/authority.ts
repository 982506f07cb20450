import { DEPLOYER_ROLE } from "../../domain/names.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import type { World } from "../world/world.ts";
import type { Authoriser, KubeServer } from "./kubernetes/server.ts";
import { textAt } from "./kubernetes/text.ts";

/** Who may write in users' namespaces, as the managed cluster's authoriser sees it: what the registers said a moment ago. */
export interface Authority {
  /** Accounts a register of the namespace lets in now. */
  allowed(namespace: string): readonly string[];
}

export const IMPERSONATE = "impersonate-user";
/** How long a change of a binding takes to reach the authoriser, in ms: up to 23 ms measured on real API servers. */
const LONGEST_LAG_MS = 25;

/** Lets engines write only as accounts that a register names; everybody else is the cluster's own or Argosy, whose roles are not modelled. */
export function createAuthority(world: World, server: KubeServer): Authority {
  const rng = world.rng.fork("authoriser");
  const registers = new Map<string, ReadonlyMap<string, readonly string[]>>();
  let lastAt = 0;

  const learn = (namespace: string, name: string, subjects: readonly string[]): void => {
    const ofNamespace = new Map(registers.get(namespace) ?? []);
    if (subjects.length === 0) ofNamespace.delete(name);
    else ofNamespace.set(name, subjects);
    registers.set(namespace, ofNamespace);
    world.record({ kind: "authority", namespace, accounts: allowed(namespace) });
  };
  const allowed = (namespace: string): readonly string[] => [...new Set([...(registers.get(namespace)?.values() ?? [])].flat())].sort();

  server.onChange(({ type, kind, object }) => {
    if (type.plural !== "rolebindings" || mapName(object["roleRef"]) !== DEPLOYER_ROLE) return;
    const subjects = kind === "DELETED" ? [] : subjectsOf(object);
    // The authoriser hears of changes in order.
    lastAt = Math.max(lastAt, world.elapsedMs() + 1 + rng.next() * LONGEST_LAG_MS);
    const namespace = textAt(metadataOf(object), "namespace");
    world.schedule(lastAt - world.elapsedMs(), "the authoriser learns", () => learn(namespace, nameOf(object), subjects));
  });

  const authorise: Authoriser = ({ headers, method, by }, { namespace }) => {
    const account = headers[IMPERSONATE];
    if (account === undefined || method === "GET") return undefined;
    const isAllowed = allowed(namespace).includes(account);
    world.record({ kind: "engine-write", instance: by, account, namespace, taken: isAllowed });
    return isAllowed ? undefined : `${account} cannot write in the namespace ${namespace}`;
  };
  server.setAuthoriser(authorise);
  return { allowed };
}

/** Names of the accounts a binding names. */
export function subjectsOf(binding: JsonMap): readonly string[] {
  const subjects = binding["subjects"];
  return Array.isArray(subjects) ? subjects.map(mapName) : [];
}

function mapName(value: unknown): string {
  return typeof value === "object" && value !== null && "name" in value ? String(value.name) : "";
}
