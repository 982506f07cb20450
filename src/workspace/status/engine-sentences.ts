import { type DeclaredGroups, isForbidden, mayBeDeployed } from "../../domain/deployable-kinds.ts";
import { isOfEngine, isOfEngineCluster } from "../../domain/engine-sentences.ts";

/** Where a deployment goes, as its user says it. */
export interface ReportedDestination {
  /** The workspace's own namespace. */
  readonly ownNamespace: string;
  /** Absent where it is deployed into its own namespace. */
  readonly environment?: { readonly name: string; readonly namespaces: readonly string[] } | undefined;
  /** What may be deployed into the own namespace. */
  readonly kinds: DeclaredGroups;
}

/** Says what users need to know of something that is wrong and that none of them caused. */
export const NOT_YOURS =
  "Argo CD cannot work on this deployment at the moment. Nothing is wrong with the resource, and what is deployed stays as it is: it goes on by itself; if it lasts, tell your administrator";

const destinationRefused =
  /\bapplication destination server '[^']*' and namespace '([^']*)' do not match any of the allowed destinations in project\b/;
/**
 * An instance's own account may not read it, because nobody deploys that kind: Argo CD asks for the object before it asks the project. The rest of
 * the sentence says which object, which the user knows, and who asked, which is none of theirs.
 */
const unreadable =
  /\bFailed to load live state: .*User "system:serviceaccount:argosy-accounts:(?:read|u)-[^"]*" cannot get resource "([a-z0-9]+)" in API group "([a-z0-9.-]*)".*/s;

/** Whether what an engine complains of is neither the user's fault nor theirs to mend, and passes by itself. */
export function isOurSentence(message: string, { environment }: Pick<ReportedDestination, "environment">): boolean {
  if (isOfEngine(message)) return true;
  const refused = destinationRefused.exec(message);
  if (refused !== null) return environment === undefined || isListed(refused[1] ?? "", environment.namespaces);
  // Their own namespace is on our cluster; an environment is one that its user operates.
  return environment === undefined && isOfEngineCluster(message);
}

/** None listed: all of them. What the engine has not heard of yet, it will. */
function isListed(namespace: string, namespaces: readonly string[]): boolean {
  return namespaces.length === 0 || namespaces.includes(namespace);
}

/** The words with which an engine hands on what failed below it; who reads them learns nothing. */
const WRAPPING = [
  /\brpc error: code = \w+ desc = /g,
  /\bfailed to generate manifest for source 1 of 1: /g,
  /\bManifest generation error \(cached\): /g,
  / on (?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]):53(?=: )/gi,
];

/** Places and commands of the machine that renders, and what they are to somebody who knows the repository only. */
const RENDERING: readonly (readonly [RegExp, string])[] = [
  [/<path to cached source>\//g, ""],
  [/<path to cached source>/g, "."],
  [/[^\s'"]{0,300}\/argocd-git-wrapper-\d+\/git /g, "git "],
  [/\bfailed to execute helm template command: failed running helm: `helm template [^`]{0,2000}`/g, "`helm template`"],
  [/\s*Use --debug flag to render out invalid YAML\b/g, ""],
  [/\berror when (?:creating|patching|replacing) "\/[^"]{0,300}": /g, ""],
];

/**
 * An engine's message in words of what its user knows: no project, no part of Argo CD, and what to do where that is not plain. What is not
 * recognised stays as it is.
 */
export function inUsersWords(message: string, destination: ReportedDestination): string {
  if (isOurSentence(message, destination)) return NOT_YOURS;
  const readable = withoutUnreadable(message, destination);
  const bare = WRAPPING.reduce((text, wrapping) => text.replace(wrapping, ""), readable);
  const rendered = RENDERING.reduce((text, [place, word]) => text.replace(place, word), bare);
  return withAdvice(withoutEnd(inUsersNames(withoutForbidden(rendered, destination), destination)));
}

function withoutUnreadable(message: string, { ownNamespace, kinds }: ReportedDestination): string {
  return message.replace(unreadable, (_all, resource: string, group: string) => {
    const what = `${resource}${group === "" ? "" : ` of ${group}`} are not permitted in this namespace, ${ownNamespace}`;
    // A kind that somebody allows is waited for: instances read it a minute or two later.
    if (mayBeDeployed({ group, resource }, kinds)) return `${what}, yet: try again in some minutes`;
    return `${what}: ${isForbidden({ group, resource }) ? "no deployment may have this kind; take them out of Git" : "take them out of Git, or ask your administrator to allow this kind"}`;
  });
}

/** What an API server says where the account that deploys has no right to a kind. */
const FORBIDDEN =
  / is forbidden: User "[^"]{0,300}" cannot \w{1,30} resource "([^"/]{1,300})[^"]{0,300}" in API group "([^"]{0,300})"(?: in the namespace "[^"]{0,300}"| at the cluster scope)?/g;

/** A kind that nobody deploys here is not one that cannot be deployed just now, as while a deployment is handed over. */
function withoutForbidden(message: string, { ownNamespace, environment, kinds }: ReportedDestination): string {
  if (environment !== undefined) return message;
  return message.replace(FORBIDDEN, (said: string, resource: string, group: string) => {
    if (mayBeDeployed({ group, resource }, kinds)) return said;
    const why = said.endsWith("at the cluster scope")
      ? "what stands outside namespaces is deployed to environments only; take it out of Git"
      : isForbidden({ group, resource })
        ? "no deployment may have this kind; take it out of Git"
        : "your administrator has not allowed this kind; ask for it, or take it out of Git";
    return ` is not permitted in this namespace, ${ownNamespace}: ${why}`;
  });
}

function inUsersNames(message: string, { ownNamespace, environment }: ReportedDestination): string {
  const place = environment === undefined ? `this namespace, ${ownNamespace}` : `environment ${environment.name}`;
  const project = String.raw` is not permitted in project '?[^\s',;]+'?`;
  return message
    .replace(new RegExp(`${destinationRefused.source} '[^']*'`, "g"), (_all, namespace: string) => notListed(namespace, environment))
    .replace(new RegExp(String.raw`\bnamespace ('?)([^\s',;]+)\1${project}`, "g"), (_all, _quote, namespace: string) =>
      environment === undefined
        ? `namespace ${namespace} is not permitted: what has no environment is deployed into ${place} only`
        : notListed(namespace, environment),
    )
    .replace(
      new RegExp(String.raw`\bresource ([^\s:]*):([^\s:]+)${project}`, "g"),
      (_all, group: string, kind: string) =>
        `kind ${kind}${group === "" ? "" : ` of ${group}`} is not permitted in ${place}: take it out of Git${clusterResources(environment)}`,
    )
    .replace(/ is not permitted in project '?[^\s',;]+'?/g, " is not permitted")
    .replace(/ (?:in|for|of) project ['"][^'"]*['"]/g, "");
}

function clusterResources(environment: ReportedDestination["environment"]): string {
  return environment === undefined ? "" : ", or set spec.clusterResources of the environment if it is outside namespaces";
}

function notListed(namespace: string, environment: ReportedDestination["environment"]): string {
  const { name, namespaces } = environment ?? { name: "…", namespaces: [] };
  const listed = namespaces.length === 0 ? "" : ` (${namespaces.slice(0, 10).join(", ")}${namespaces.length > 10 ? ", …" : ""})`;
  return `namespace ${namespace} is not among spec.namespaces of environment ${name}${listed}: add it there, or deploy to one of these`;
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:authentication required|could not read Username|invalid credentials|Permission denied \(publickey)/i,
    "a GitOpsDeploymentRepositoryCredential of this namespace has to name this repository, and its status says whether it works",
  ],
  [/\bapp path does not exist\b/, "spec.source.path has to be a directory of the repository at spec.source.targetRevision"],
  [/\bunable to resolve '[^']*' to a commit SHA\b/, "spec.source.targetRevision has to be a branch, a tag or a commit of the repository"],
  [/\breceived message larger than max\b/, "what the path renders to is too large for one deployment: split it"],
  [/\bcontext deadline exceeded\b/, "it took too long, and is tried again by itself"],
];

function withAdvice(message: string): string {
  const advice = ADVICE.find(([complaint]) => complaint.test(message))?.[1];
  return advice === undefined ? message : `${message}: ${advice}`;
}

/** Without what was to lead on to words that did not come. One character after the other: an expression would be slow on a text of spaces. */
function withoutEnd(message: string): string {
  let end = message.length;
  while (end > 0 && " \t\r\n:;,".includes(message.charAt(end - 1))) end -= 1;
  return message.slice(0, end);
}
