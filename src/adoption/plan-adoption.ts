import { canonicalJson } from "../domain/hash.ts";
import { type HandMade, parseHandMade, type StandingDeployment } from "./schema.ts";
import { type AdoptionContext, type AdoptionRefusal, whyNotAdopt } from "./why-not-adopt.ts";

/** Annotations that pause: Argo CD does not compare such an Application, Argosy does nothing about such a resource. */
export const PAUSE = { application: "argocd.argoproj.io/skip-reconcile", deployment: "argosy.dev/paused" } as const;
/** An annotation of a GitOpsDeployment that adopted an Application: the name of that Application, which it keeps in Argo CD. */
export const ANNOTATION_ADOPTS = "argosy.dev/adopts";

/** The spec of a GitOpsDeployment that deploys the same as an Application made by hand. */
export interface WantedDeployment {
  readonly source: { readonly repoURL: string; readonly path: string; readonly targetRevision?: string };
  readonly type: "automated" | "manual";
  readonly syncPolicy?: { readonly syncOptions: readonly string[] };
}

/** Names of Argosy's own objects in an instance begin with this. */
const OWN_PREFIX = "argosy-";

/** What happens to one Application of an Argo CD that somebody installed by hand. */
export type AdoptionStep = { readonly name: string } & (
  | { readonly verdict: "import"; readonly namespace: string; readonly wanted: WantedDeployment; readonly application: HandMade }
  /** It was adopted, and is paused: nothing is to be done. */
  | { readonly verdict: "stand"; readonly namespace: string }
  /** Its GitOpsDeployment exists already: the rest is to be done. */
  | {
      readonly verdict: "resume";
      readonly namespace: string;
      readonly deployment: StandingDeployment;
      readonly application: HandMade;
    }
  | { readonly verdict: "refuse"; readonly refusal: AdoptionRefusal }
);

export interface AdoptionFacts extends AdoptionContext {
  /** Applications as the cluster gives them. */
  readonly applications: readonly { readonly name: string; readonly raw: unknown }[];
  /** GitOpsDeployments in all namespaces. */
  readonly deployments: readonly StandingDeployment[];
  /** Names that are in use in the fleet, and by whom. */
  readonly known: readonly { readonly argoName: string; readonly namespace: string; readonly name: string }[];
}

/**
 * Plans what happens to each Application, sorted by name. It is imported as a GitOpsDeployment of the same name, in
 * the namespace it deploys to. It keeps its name in Argo CD, because deployed objects are tracked by that name. If an
 * earlier run has created the GitOpsDeployment, the plan continues with that one.
 */
export function planAdoption(facts: AdoptionFacts): readonly AdoptionStep[] {
  return facts.applications.map(({ name, raw }) => stepOf(name, raw, facts)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function stepOf(name: string, raw: unknown, facts: AdoptionFacts): AdoptionStep {
  const refuse = (refusal: AdoptionRefusal): AdoptionStep => ({ name, verdict: "refuse", refusal });
  const parsed = parseHandMade(raw);
  if (!parsed.ok) return refuse({ code: "UNREADABLE", text: `its ${parsed.field} cannot be read` });
  const application = parsed.value;
  const { namespace } = application.spec.destination;
  const wanted = wantedDeployment(application);
  const deployment = facts.deployments.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  const isKnown = facts.known.some((one) => one.argoName === name && one.namespace === namespace && one.name === name);
  const isOurs = deployment !== undefined && isMadeFor(deployment, { name, wanted, isKnown });
  const isPaused = application.metadata.annotations[PAUSE.application] === "true";
  if (isOurs && isKnown && isPaused && deployment.metadata.annotations[PAUSE.deployment] !== "true")
    return { name, verdict: "stand", namespace };
  const refusal = whyNotAdopt(application, facts) ?? whyTaken(name, namespace, { facts, standing: isOurs ? undefined : deployment });
  if (refusal !== undefined) return refuse(refusal);
  if (isOurs) return { name, verdict: "resume", namespace, deployment, application };
  if (wanted === undefined) return refuse({ code: "SEVERAL_SOURCES", text: "it has several sources, or none" });
  // The status of a paused Application may be old, and somebody has paused it on purpose.
  if (isPaused) return refuse({ code: "PAUSED", text: `it is paused: take ${PAUSE.application} off, and have it compared` });
  return { name, verdict: "import", namespace, wanted, application };
}

/**
 * Whether a GitOpsDeployment was created for this Application. Any user of the namespace could have set the
 * annotation, so it also has to have exactly the wanted spec, or to be known to the fleet under this name.
 */
function isMadeFor(
  { metadata, spec }: StandingDeployment,
  asked: { readonly name: string; readonly wanted: WantedDeployment | undefined; readonly isKnown: boolean },
): boolean {
  if (metadata.annotations[ANNOTATION_ADOPTS] !== asked.name || metadata.deletionTimestamp !== undefined) return false;
  return asked.isKnown || (asked.wanted !== undefined && canonicalJson(spec) === canonicalJson(asked.wanted));
}

function whyNotFor(name: string, { metadata: { annotations } }: StandingDeployment): string {
  const isLeft = annotations[ANNOTATION_ADOPTS] === name && annotations[PAUSE.deployment] === "true";
  return isLeft
    ? "was made for it when it asked for something else, and is paused: delete that, which takes nothing with it, and run this again"
    : "stands there and was not made for it: rename one of the two";
}

function whyTaken(
  name: string,
  namespace: string,
  { facts, standing }: { readonly facts: AdoptionFacts; readonly standing: StandingDeployment | undefined },
): AdoptionRefusal | undefined {
  if (name.startsWith(OWN_PREFIX)) return { code: "NAME_TAKEN", text: `names that begin with ${OWN_PREFIX} are Argosy's own` };
  if (standing !== undefined) return { code: "NAME_TAKEN", text: `GitOpsDeployment ${namespace}/${name} ${whyNotFor(name, standing)}` };
  const holder = facts.known.find((one) => one.argoName === name && (one.namespace !== namespace || one.name !== name));
  if (holder === undefined) return undefined;
  return { code: "NAME_TAKEN", text: `${holder.namespace}/${holder.name} has the name ${name} in Argo CD already` };
}

/** `undefined`: it has several sources, or none. */
function wantedDeployment({ spec }: Pick<HandMade, "spec">): WantedDeployment | undefined {
  if (spec.source === undefined) return undefined;
  const { repoURL, path, targetRevision } = spec.source;
  const options = spec.syncPolicy.syncOptions.filter((option) => option.startsWith("CreateNamespace="));
  return {
    source: { repoURL, path, ...(targetRevision === "" ? {} : { targetRevision }) },
    type: spec.syncPolicy.automated === undefined ? "manual" : "automated",
    ...(options.length === 0 ? {} : { syncPolicy: { syncOptions: options } }),
  };
}
