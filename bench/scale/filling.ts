import { inFlight } from "../load.ts";
import { type Deployment, deploymentKey, isReported } from "../world/users.ts";
import { PARTS, type Part } from "./parts.ts";
import { lower, type Plain, type Reading, read, type ScaleRun } from "./run.ts";

/** Deployments of the end of each filling that are measured: it is then nearly as large as its size says. */
const MEASURED = 500;
/** Deployments under way at once while filling. */
const UNDER_WAY = 128;

export interface Filled {
  readonly standing: readonly Deployment[];
  readonly measured: number;
  readonly before: Reading;
  readonly after: Reading;
}

/** Fills the fleet up to a size: each deployment is reported to its user before it counts. Workspaces grow along with the applications. */
export async function fillUp(
  run: Pick<ScaleRun, "world" | "options" | "progress" | "signal" | "standing"> & { readonly applications: number },
): Promise<Filled> {
  const { world, options, standing, applications, progress } = run;
  const { users } = world;
  const workspaceOf = workspaces(options);
  const namespaces = Array.from({ length: applications - standing.length }, (_, index) => workspaceOf(standing.length + index));
  const known = new Set(standing.map(({ namespace }) => namespace));
  await users.addWorkspaces([...new Set(namespaces)].filter((name) => !known.has(name)));
  const more = namespaces.map((namespace) => users.next(namespace));
  let done = standing.length;
  const create = (some: readonly Deployment[]) =>
    inFlight(some, UNDER_WAY, async (deployment) => {
      await users.create(deployment);
      await users.deployments.until(deploymentKey(deployment), isReported);
      done += 1;
      progress.detail(`${done}`);
    });
  const measured = Math.min(MEASURED, Math.ceil(more.length / 2));
  await create(more.slice(0, more.length - measured));
  const before = await read(run);
  await create(more.slice(more.length - measured));
  return { standing: [...standing, ...more], measured, before, after: await read(run) };
}

/** The workspace of each application by number, so that each part of a filling has as many new workspaces as any other. */
function workspaces({ workspaces: count, applications }: ScaleRun["options"]): (index: number) => string {
  const largest = applications.at(-1) ?? 1;
  return (index) => `scale-${Math.floor((index * count) / largest)}`;
}

/** What the measured end of a filling cost. `alone`: what the parts do at this size without Argosy, which is taken off. */
export function fillingFigures({ measured, before, after }: Filled, alone: Readonly<Record<Part, number>>): readonly Plain[] {
  const seconds = (after.cost.at - before.cost.at) / 1_000;
  const each = (cpuSeconds: number): number => (1_000 * cpuSeconds) / measured;
  const added = (part: Part): number => Math.max(0, after.parts[part] - before.parts[part] - alone[part] * seconds);
  const samples = { samples: measured };
  return [
    { what: "filling: deployments created and reported", unit: "/s", better: "higher", value: measured / seconds, noise: 0, ...samples },
    lower("filling: CPU of Argosy for each", "ms", each(after.cost.cpuSeconds - before.cost.cpuSeconds), samples),
    lower("filling: CPU of Argosy's git for each", "ms", each(after.cost.gitSeconds - before.cost.gitSeconds), samples),
    ...PARTS.map((part) => lower(`filling: CPU of the ${part} for each, beyond what it does anyway`, "ms", each(added(part)), samples)),
  ];
}
