import { InputError, RefusedError, StaleError } from "../domain/errors.ts";
import { type AdoptionFacts, type AdoptionStep, ANNOTATION_ADOPTS, PAUSE, planAdoption } from "./plan-adoption.ts";
import type { AdoptedCluster, AdoptingFleet } from "./port.ts";
import { parseAdoptedNamespace, parseHandMade, parseHandMadeProject, parseStandingDeployment, readableOnly } from "./schema.ts";
import { whyNoLonger, whyNotFrom } from "./why-not-adopt.ts";

const PAUSED: Readonly<Record<string, string>> = { [PAUSE.deployment]: "true" };
/** How long the fleet may need to record a resource, in ms. The workspace controller takes a second, on a busy server a few. */
const TAKEN_MS = 30_000;
/**
 * How long a process may still be at a resource that was paused again, in ms. If it had read the resource before, it
 * has recorded it by then.
 */
const LATE_MS = 3_000;

export interface AdoptionDeps {
  readonly cluster: AdoptedCluster;
  readonly fleet: AdoptingFleet;
}

/** What has to be known of the fleet. */
export interface AdoptionRules {
  /** Uid of the namespace `kube-system` of the API cluster. */
  readonly clusterUid: string;
  readonly instanceNamespaces: readonly string[];
  readonly servers: readonly string[];
  readonly known: AdoptionFacts["known"];
  readonly kinds: AdoptionFacts["kinds"];
  isWorkspace(namespace: { readonly name: string; readonly labels: Readonly<Record<string, string>> }): boolean;
}

export type AdoptionOutcome = { readonly name: string; readonly verdict: "adopted" | "stands" | "refused"; readonly text: string };

/**
 * Plans what happens to each Application of the Argo CD in a namespace. Throws `InputError` where there is no Argo
 * CD, or where nothing can be adopted from it.
 */
export async function draftAdoption(
  { cluster }: Pick<AdoptionDeps, "cluster">,
  { namespace, rules }: { readonly namespace: string; readonly rules: AdoptionRules },
  signal: AbortSignal,
): Promise<readonly AdoptionStep[]> {
  const { settings, ...observation } = await cluster.read(namespace, signal);
  const namespaces = readableOnly(observation.namespaces, parseAdoptedNamespace).map(({ metadata }) => metadata);
  const why = whyNotFrom({ ...rules, namespace, settings, namespaces });
  if (why !== undefined) throw new InputError(why.message, { code: "adoption.source", path: `${namespace}/argocd-cm`, remedy: why.remedy });
  const workspaces = namespaces.filter((one) => one.deletionTimestamp === undefined && one.name !== namespace && rules.isWorkspace(one));
  return planAdoption({
    servers: rules.servers,
    known: rules.known,
    kinds: rules.kinds,
    applications: observation.applications,
    projects: readableOnly(observation.projects, parseHandMadeProject),
    deployments: readableOnly(observation.deployments, parseStandingDeployment),
    workspaces: new Set(workspaces.map(({ name }) => name)),
  });
}

/**
 * Carries out one step, which an earlier run may have begun. The order: create the resource paused, keep the name for
 * it, pause the Application, and only then resume the resource. So the two never act at the same time. Nothing is
 * deleted. If the fleet does not take the resource, the Application is resumed.
 */
export async function adoptOne(step: AdoptionStep, source: string, deps: AdoptionDeps, signal: AbortSignal): Promise<AdoptionOutcome> {
  const { name } = step;
  if (step.verdict === "refuse") return { name, verdict: "refused", text: step.refusal.text };
  const what = `GitOpsDeployment ${step.namespace}/${name}`;
  if (step.verdict === "stand") return { name, verdict: "stands", text: `it is ${what}` };
  try {
    const why = await handOver(step, source, deps, signal);
    return why === undefined ? { name, verdict: "adopted", text: `as ${what}` } : { name, verdict: "refused", text: why };
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof StaleError)) throw error;
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    return { name, verdict: "refused", text: `${error.message}${error.code.startsWith("adoption.") ? "" : cause}` };
  }
}

/** Hands an Application over to the fleet. Returns why that was not possible; the Application is resumed then. */
async function handOver(
  step: Extract<AdoptionStep, { readonly verdict: "import" | "resume" }>,
  source: string,
  deps: AdoptionDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name, namespace } = step;
  const application = { namespace: source, name, uid: step.application.metadata.uid };
  const uid = step.verdict === "resume" ? step.deployment.metadata.uid : await createPaused(step, deps, signal);
  const deployment = { namespace, name, uid };
  await deps.fleet.keepName({ ...deployment, argoName: name }, signal);
  const paused = parseHandMade(await pause(deps, "application", application, { isPaused: true, signal }));
  const why = paused.ok ? whyNoLonger(step.application, paused.value)?.text : `its ${paused.field} cannot be read`;
  if (why === undefined) {
    await pause(deps, "deployment", deployment, { isPaused: false, signal });
    if (await deps.fleet.takes({ namespace, name, argoName: name, waitMs: TAKEN_MS }, signal)) return undefined;
    await pause(deps, "deployment", deployment, { isPaused: true, signal });
    if (await deps.fleet.takes({ namespace, name, argoName: name, waitMs: LATE_MS }, signal)) {
      await pause(deps, "deployment", deployment, { isPaused: false, signal });
      return undefined;
    }
  }
  await pause(deps, "application", application, { isPaused: false, signal });
  const complaint = await deps.cluster.complaint(deployment, signal);
  return why ?? `the fleet does not take GitOpsDeployment ${namespace}/${name}: ${complaint ?? "its status says why"}`;
}

function createPaused(
  { name, namespace, wanted }: Extract<AdoptionStep, { readonly verdict: "import" }>,
  { cluster }: AdoptionDeps,
  signal: AbortSignal,
): Promise<string> {
  return cluster.create({ namespace, name }, { annotations: { ...PAUSED, [ANNOTATION_ADOPTS]: name }, spec: wanted }, signal);
}

function pause(
  { cluster }: AdoptionDeps,
  kind: keyof typeof PAUSE,
  at: { readonly namespace: string; readonly name: string; readonly uid: string },
  { isPaused, signal }: { readonly isPaused: boolean; readonly signal: AbortSignal },
): Promise<unknown> {
  return cluster.annotate(kind, at, { annotation: PAUSE[kind], value: isPaused ? "true" : undefined }, signal);
}
