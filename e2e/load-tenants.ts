import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { playEnvironments } from "./environments.ts";
import type { TargetCluster } from "./target-cluster.ts";
import { configMapFile, findApplication, openWorkspace, until, type Workspace, type World } from "./world.ts";

/** What a workspace deploys, where it is placed, and what its user does all the time. */
export interface Tenant {
  readonly name: string;
  readonly instance: string;
  readonly applications: number;
  /** Objects of each application. */
  readonly objects: number;
  /** Whether it deploys to its own cluster. */
  readonly isElsewhere?: boolean;
  /** What its user does with its first application: request a refresh, or push a change first. */
  readonly user?: "pokes" | "pushes";
}

/** Two on each instance, with clearly different load: by number, by size, by what their users do, by where they deploy to. */
export const TENANTS: readonly Tenant[] = [
  { name: "load-many", instance: "load-1", applications: 10, objects: 1 },
  { name: "load-large", instance: "load-1", applications: 6, objects: 16 },
  { name: "load-quiet", instance: "load-2", applications: 6, objects: 4 },
  { name: "load-poked", instance: "load-2", applications: 2, objects: 4, user: "pokes" },
  { name: "load-pushed", instance: "load-3", applications: 2, objects: 4, user: "pushes" },
  { name: "load-away", instance: "load-3", applications: 6, objects: 8, isElsewhere: true },
];
/** How often users request refreshes and push. */
const RHYTHM_MS = 500;
const TARGET_NAMESPACE = "web";

/** A workspace with all its applications. */
export interface Settled {
  readonly tenant: Tenant;
  readonly workspace: Workspace;
  /** The name of its project in the controller's log. */
  readonly project: string;
}

type ApplicationObject = KubeObject & { readonly spec: { readonly project: string } };

export const applicationsOf = ({ applications }: Tenant): readonly string[] =>
  Array.from({ length: applications }, (_, index) => `app-${index}`);

/** Opens the workspace, deploys everything and waits until it is placed. */
export async function deployTenant(world: World, target: TargetCluster, tenant: Tenant): Promise<Settled> {
  const { name } = tenant;
  const environments = playEnvironments(() => ({ world, target }));
  const workspace = await openWorkspace(world, name);
  await world.git.commit(name, filesOf(tenant));
  if (tenant.isElsewhere === true) {
    await target.namespace(TARGET_NAMESPACE);
    await environments.putSecret(name, { token: await target.account(name) });
    await environments.putEnvironment(name);
    await environments.saysOfEnvironment(name, "True", "Succeeded");
  }
  const elsewhere = { environment: "prod", namespace: TARGET_NAMESPACE };
  for (const application of applicationsOf(tenant))
    await environments.deploy(workspace, application, tenant.isElsewhere === true ? elsewhere : undefined);
  const object = await until(
    `${name} on ${tenant.instance}`,
    () => findApplication(world, name, "app-0") as Promise<ApplicationObject | undefined>,
    (found) => found?.metadata.namespace === `argosy-${tenant.instance}`,
  );
  return { tenant, workspace, project: object?.spec.project ?? "" };
}

function filesOf(tenant: Tenant): Readonly<Record<string, string>> {
  const files = applicationsOf(tenant).flatMap((name) =>
    Array.from(
      { length: tenant.objects },
      (_, index) => [`${name}/${index}.yaml`, configMapFile(`${name}-${index}`, { step: "first" })] as const,
    ),
  );
  return Object.fromEntries(files);
}

/** Requests refreshes, or pushes and requests refreshes, in its own rhythm until the work is done. */
export async function withUsers<T>(world: World, tenants: readonly Settled[], work: () => Promise<T>): Promise<T> {
  const users = tenants.flatMap((settled) => beUser(world, settled) ?? []);
  try {
    return await work();
  } finally {
    for (const user of users) clearInterval(user);
  }
}

function beUser(world: World, { tenant: { name, user }, workspace }: Settled): NodeJS.Timeout | undefined {
  if (user === undefined) return undefined;
  let step = 0;
  const act = async (): Promise<void> => {
    step += 1;
    if (user === "pushes") await world.git.commit(name, { "app-0/0.yaml": configMapFile("app-0-0", { step: String(step) }) });
    await workspace.annotate("app-0", { "argosy.dev/refreshed-at": String(step) });
  };
  // A failure is followed by the next attempt.
  return setInterval(() => void act().catch(() => undefined), RHYTHM_MS);
}
