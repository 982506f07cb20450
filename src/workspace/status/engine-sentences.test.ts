import { describe, expect, it } from "vitest";
import { inUsersWords, isOurSentence, NOT_YOURS } from "./engine-sentences.ts";

const OWN_NAMESPACE = { ownNamespace: "jane", kinds: { allowedGroups: ["b.example"] } };
const PROD = { ownNamespace: "jane", kinds: {}, environment: { name: "prod", namespaces: ["shop", "web"] } };
const inside = "Failed to load target state: failed to generate manifest for source 1 of 1: ";

describe("what is neither a user's fault nor theirs to mend", () => {
  it.each([
    `${inside}rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp: lookup argocd-repo-server on 10.96.0.10:53: no such host"`,
    `${inside}rpc error: code = Unavailable desc = error reading from server: EOF`,
    `${inside}rpc error: code = Canceled desc = context canceled`,
    "dial tcp 10.96.3.4:6379: connect: connection refused",
    "redis: connection pool timeout",
    `${inside}rpc error: code = Unknown desc = Manifest generation error: write /tmp/x: no space left on device`,
    'error getting app project "ws-0123456789abcdef0123": appproject.argoproj.io "ws-0123456789abcdef0123" not found',
    "Application referencing project ws-0123456789abcdef0123 which does not exist",
    "application repo https://git.example/x is not permitted in project 'ws-0123456789abcdef0123'",
    "there are no clusters with this name: here",
    'Failed to load live state: failed to get cluster info for "https://10.0.0.1:443": error synchronizing cache state : timed out',
    "no matching service account found for destination server https://10.0.0.1 and namespace jane",
    'configmap "argocd-cm" not found',
    "application destination server 'https://10.0.0.1' and namespace 'jane' do not match any of the allowed destinations in project 'ws-0'",
  ])("is that %s", (message) => {
    expect(isOurSentence(message, {})).toBe(true);
    expect(inUsersWords(message, OWN_NAMESPACE)).toBe(NOT_YOURS);
  });

  it.each([
    `${inside}rpc error: code = Unknown desc = failed to list refs: dial tcp: lookup git.example on 10.96.0.10:53: no such host`,
    `${inside}rpc error: code = Unknown desc = failed to list refs: authentication required`,
    'Deployment "redis" exceeded its progress deadline',
    'Deployment "argocd-repo-server" exceeded its progress deadline',
    'failed calling webhook "check.example": dial tcp 10.1.1.1:443: connect: connection refused',
    "one or more objects failed to apply, reason: secrets is forbidden: User cannot create resource",
    "pod web: signal: killed",
  ])("is not that %s", (message) => {
    expect(isOurSentence(message, {})).toBe(false);
    expect(inUsersWords(message, OWN_NAMESPACE)).not.toBe(NOT_YOURS);
  });

  it("is an environment that lists the namespace, which the engine has not heard of yet; not one that is away", () => {
    const refused = (namespace: string) =>
      `application destination server 'https://x' and namespace '${namespace}' do not match any of the allowed destinations in project 'ws-0'`;
    expect([isOurSentence(refused("shop"), PROD), isOurSentence(refused("other"), PROD)]).toEqual([true, false]);
    expect(isOurSentence(refused("other"), { ...PROD, environment: { name: "prod", namespaces: [] } })).toBe(true);
    expect(isOurSentence('Failed to load live state: failed to get cluster info for "https://x": no route to host', PROD)).toBe(false);
  });
});

describe("what an API server refuses", () => {
  const said = (resource: string, group: string, at = ' in the namespace "jane"') =>
    `one or more objects failed to apply, reason: ${resource}.${group} "mine" is forbidden: User "system:serviceaccount:argosy-accounts:u-0123456789abcdef0123" cannot patch resource "${resource}" in API group "${group}"${at} (retried 2 times).`;

  it("is a kind that the administrator has not allowed, in these words", () => {
    expect(inUsersWords(said("widgets", "a.example"), OWN_NAMESPACE)).toBe(
      'one or more objects failed to apply, reason: widgets.a.example "mine" is not permitted in this namespace, jane: your administrator has not allowed this kind; ask for it, or take it out of Git (retried 2 times).',
    );
    expect(inUsersWords(said("roles", "rbac.authorization.k8s.io"), OWN_NAMESPACE)).toContain("no deployment may have this kind");
    expect(inUsersWords(said("namespaces", "", " at the cluster scope"), OWN_NAMESPACE)).toContain("deployed to environments only");
  });

  it("is left as it was said where the kind is allowed, and in a user's own cluster", () => {
    for (const [message, destination] of [
      [said("widgets", "b.example"), OWN_NAMESPACE],
      [said("deployments", "apps"), OWN_NAMESPACE],
      [said("widgets", "a.example"), PROD],
    ] as const)
      expect(inUsersWords(message, destination)).toBe(message);
  });
});

describe("what Argo CD says in words of what a user knows", () => {
  it.each([
    [
      "`kustomize build <path to cached source>/app` failed exit status 1: Error: '/etc/hostname' is not in or below '<path to cached source>'",
      "`kustomize build app` failed exit status 1: Error: '/etc/hostname' is not in or below '.'",
    ],
    [
      "failed to run '/tmp/argocd-git-wrapper-2906075335/git fetch --depth=1 https://git.invalid/team/base main'",
      "failed to run 'git fetch --depth=1 https://git.invalid/team/base main'",
    ],
    [
      "failed to execute helm template command: failed running helm: `helm template . --name-template a --include-crds` failed exit status 1: Error: nil pointer Use --debug flag to render out invalid YAML",
      "`helm template` failed exit status 1: Error: nil pointer",
    ],
    [
      'error when patching "/dev/shm/2761826866": Deployment.apps "web" is invalid: field is immutable',
      'Deployment.apps "web" is invalid: field is immutable',
    ],
  ])("names no place or command of the machine that renders: %s", (message, words) => {
    expect(inUsersWords(message, OWN_NAMESPACE)).toBe(words);
  });

  it.each([
    [
      "the environment and its list instead of a project",
      "application destination server 'https://x' and namespace 'other' do not match any of the allowed destinations in project 'ws-0'",
      PROD,
      "namespace other is not among spec.namespaces of environment prod (shop, web): add it there, or deploy to one of these",
    ],
    [
      "the same of an object",
      "namespace other is not permitted in project 'ws-0'",
      PROD,
      "namespace other is not among spec.namespaces of environment prod (shop, web): add it there, or deploy to one of these",
    ],
    [
      "where what has no environment may go",
      "namespace other is not permitted in project 'ws-0'",
      OWN_NAMESPACE,
      "namespace other is not permitted: what has no environment is deployed into this namespace, jane only",
    ],
    [
      "a kind",
      "resource :Namespace is not permitted in project ws-0",
      OWN_NAMESPACE,
      "kind Namespace is not permitted in this namespace, jane: take it out of Git",
    ],
    [
      "a kind of a group, elsewhere",
      "resource rbac.authorization.k8s.io:ClusterRole is not permitted in project ws-0.",
      PROD,
      "kind ClusterRole of rbac.authorization.k8s.io is not permitted in environment prod: take it out of Git, or set spec.clusterResources of the environment if it is outside namespaces",
    ],
    [
      "a kind that nobody deploys, before any project is asked",
      'Failed to load live state: failed to get managed objects: unexpected error getting managed object: roles.rbac.authorization.k8s.io "x" is forbidden: User "system:serviceaccount:argosy-accounts:read-0123456789abcdef0123" cannot get resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "jane"',
      OWN_NAMESPACE,
      "roles of rbac.authorization.k8s.io are not permitted in this namespace, jane: no deployment may have this kind; take them out of Git",
    ],
    [
      "the same of one beyond namespaces",
      'Failed to load live state: failed to get managed objects: unexpected error getting managed object: namespaces "x" is forbidden: User "system:serviceaccount:argosy-accounts:read-0123456789abcdef0123" cannot get resource "namespaces" in API group "" in the namespace "x": RBAC: clusterrole "gone" not found',
      OWN_NAMESPACE,
      "namespaces are not permitted in this namespace, jane: no deployment may have this kind; take them out of Git",
    ],
    [
      "no wrapping, no name server",
      `${inside}rpc error: code = Unknown desc = failed to list refs: Get "https://git.example/x": dial tcp: lookup git.example on 10.96.0.10:53: no such host`,
      OWN_NAMESPACE,
      'Failed to load target state: failed to list refs: Get "https://git.example/x": dial tcp: lookup git.example: no such host',
    ],
    ["no colon before nothing", "failed to list refs: repository not found: ", OWN_NAMESPACE, "failed to list refs: repository not found"],
    [
      "what to do about credentials",
      "failed to list refs: authentication required:",
      OWN_NAMESPACE,
      "failed to list refs: authentication required: a GitOpsDeploymentRepositoryCredential of this namespace has to name this repository, and its status says whether it works",
    ],
    [
      "what to do about a branch",
      "unable to resolve 'mian' to a commit SHA",
      OWN_NAMESPACE,
      "unable to resolve 'mian' to a commit SHA: spec.source.targetRevision has to be a branch, a tag or a commit of the repository",
    ],
    [
      "anything else as it is",
      'Deployment "web" exceeded its progress deadline',
      OWN_NAMESPACE,
      'Deployment "web" exceeded its progress deadline',
    ],
  ])("has %s", (_what, message, destination, expected) => {
    expect(inUsersWords(message, destination)).toBe(expected);
  });
});

it("takes no longer than its length asks for, whatever stands in a message", () => {
  const hostile = [
    "manifest ",
    "argocd-cm ",
    "resource a:",
    "a:",
    " ",
    "namespace '",
    'cluster "',
    "dial tcp ",
    "[",
    "1.1.1.1",
    "project '",
  ];
  for (const part of hostile) {
    const text = part.repeat(16_384 / part.length);
    expect(inUsersWords(`${text}x`, PROD).length, part).toBeGreaterThan(0);
  }
});
