import { canonicalJson } from "../domain/hash.ts";
import { type HandMade, parseHandMade, type StandingDeployment } from "./schema.ts";
import { type AdoptionContext, type AdoptionRefusal, whyNotAdopt } from "./why-not-adopt.ts";

/** Argo CD does not look at an Application that carries it; Argosy does nothing about a resource that does. */
export const PAUSE = { application: "argocd.argoproj.io/skip-reconcile", deployment: "argosy.dev/paused" } as const;
/** On a GitOpsDeployment that an Application made by hand was taken over as: that Application's name, which stays its name. */
export const ANNOTATION_ADOPTS = "argosy.dev/adopts";

/** The spec of a GitOpsDeployment that asks for what an Application made by hand deploys. */
export interface WantedDeployment {
  readonly source: { readonly repoURL: string; readonly path: string; readonly targetRevision?: string };
  readonly type: "automated" | "manual";
  readonly syncPolicy?: { readonly syncOptions: readonly string[] };
}

/** Names of what instances have beside users' Applications begin so. */
const OWN_PREFIX = "argosy-";

/** One Application of an Argo CD that somebody installed by hand, and what becomes of it. */
export type AdoptionStep = { readonly name: string } & (
  | { readonly verdict: "import"; readonly namespace: string; readonly wanted: WantedDeployment; readonly application: HandMade }
  /** The fleet has it, and it is paused: nothing is to be done. */
  | { readonly verdict: "stand"; readonly namespace: string }
  /** Its GitOpsDeployment stands already: the rest is to be done. */
  | {
      readonly verdict: "resume";
      readonly namespace: string;
      readonly deployment: StandingDeployment;
      readonly application: HandMade;
    }
  | { readonly verdict: "refuse"; readonly refusal: AdoptionRefusal }
);

export interface AdoptionFacts extends AdoptionContext {
  /** Applications as the cluster shows them. */
  readonly applications: readonly { readonly name: string; readonly raw: unknown }[];
  /** GitOpsDeployments of all namespaces. */
  readonly deployments: readonly StandingDeployment[];
  /** Who has a name in the fleet already. */
  readonly known: readonly { readonly argoName: string; readonly namespace: string; readonly name: string }[];
}

/**
 * What becomes of each Application, by name. One is imported as a GitOpsDeployment of its own name in the namespace it deploys into, and keeps
 * its name in Argo CD, which what is deployed is tracked by. A GitOpsDeployment that an earlier run made is gone on with.
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

/** Whoever may write there could have put the annotation on: only one that asks for the very same is gone on with, or one the fleet knows. */
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

/** `undefined`: it has not one source but several. */
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
