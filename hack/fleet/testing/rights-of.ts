import { expect } from "vitest";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

export type Rights = ReadonlyMap<string, ReadonlySet<string>>;

/** What the API server says that a client may do in a namespace: verbs by resource, as `resource.group name`. */
export async function rightsOf(client: KubeClient, namespace: string, headers: Readonly<Record<string, string>> = {}): Promise<Rights> {
  const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
  const { status } = await client.request<{ readonly status: { readonly resourceRules: readonly Rule[]; readonly incomplete: boolean } }>(
    { method: "POST", path, body, headers },
    new AbortController().signal,
  );
  expect(status.incomplete).toBe(false);
  const rights = new Map<string, Set<string>>();
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [""] } of status.resourceRules) {
    for (const group of apiGroups)
      for (const resource of resources)
        for (const name of resourceNames) {
          const what = `${resource}${group === "" ? "" : `.${group}`}${name === "" ? "" : ` ${name}`}`;
          const known = rights.get(what) ?? new Set();
          for (const verb of verbs) known.add(verb);
          rights.set(what, known);
        }
  }
  return rights;
}

/** As lines, without what is in `known`. */
export function linesOf(rights: Rights, known: Rights): readonly string[] {
  return [...rights]
    .map(([what, verbs]) => [what, [...verbs].filter((verb) => known.get(what)?.has(verb) !== true).sort()] as const)
    .filter(([, verbs]) => verbs.length > 0)
    .map(([what, verbs]) => `    ${what}: ${verbs.join(" ")}`)
    .sort();
}
