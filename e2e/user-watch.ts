import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { reflect } from "./reflect.ts";
import { type DeploymentResource, report, TYPES, type World } from "./world.ts";

/** What a healthy deployment may report when a push, an edit or a sync has just begun. */
const FINE: readonly string[] = ["sync Synced", "sync OutOfSync", "health Healthy", "health Progressing"];
const FINE_REASONS: readonly string[] = ["Synced", "Reconciling", "OutOfSync", "Progressing"];

/** What a user reads about a deployment that is not fine, in words: its states, and each condition that is not over. */
export function oddWordsOf({ status }: DeploymentResource): readonly string[] {
  const conditions = (status?.conditions ?? []).filter((each) => ["Ready", "Reconciling"].includes(each.type) || each.status !== "False");
  const states = [`sync ${status?.sync?.status}`, `health ${status?.health?.status}`].filter((word) => !FINE.includes(word));
  const reasons = conditions.filter(({ reason = "" }) => !FINE_REASONS.includes(reason)).map(({ type, reason }) => `${type} ${reason}`);
  return [...states, ...reasons];
}

/** What the user of a namespace sees of the deployments and ConfigMaps in it. */
export interface UserWatch {
  /** How many states of deployments were observed. */
  states(): number;
  /** The observed sync statuses of deployments, each once. */
  syncs(): ReadonlySet<string | undefined>;
  /** What was not fine: when, which deployment, and its status. */
  odd(): readonly string[];
  /** ConfigMaps that were deleted, with the time. */
  gone(): readonly string[];
  close(): Promise<void>;
}

export async function watchUser(world: World, namespace: string): Promise<UserWatch> {
  const [odd, gone]: [string[], string[]] = [[], []];
  const syncs = new Set<string | undefined>();
  let states = 0;
  const now = (): string => new Date().toISOString();
  const deployments = await reflect<DeploymentResource>(world, { type: TYPES.deployment, namespace }, (change) => {
    if (change.kind === "delete") return;
    states += 1;
    const { now: deployment } = change;
    syncs.add(deployment.status?.sync?.status);
    const words = oddWordsOf(deployment);
    if (words.length === 0) return;
    odd.push(`${now()} ${deployment.metadata.name}: ${words.join(", ")}: ${JSON.stringify(deployment.status)}`);
    report(`seen by the user: ${odd.at(-1)}`);
  });
  const configMaps = await reflect<KubeObject>(world, { type: TYPES.configMap, namespace }, (change) => {
    if (change.kind === "delete") gone.push(`${now()} ${change.at.name}`);
  });
  return {
    states: () => states,
    syncs: () => syncs,
    odd: () => odd,
    gone: () => gone,
    async close() {
      await deployments.close();
      await configMaps.close();
    },
  };
}
