import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { TARGET_TYPES } from "../target-cluster.ts";
import { configMapFile, findApplication, openWorkspace, TYPES, type Workspace, type World } from "../world.ts";
import { ENVIRONMENT } from "./belongings.ts";
import { openPerson, type Person } from "./person.ts";

/** Two workspaces that share an instance, and people who own one of them and attack the other. */
export interface Scene {
  readonly victim: Tenant;
  readonly attacker: Tenant;
  /** Namespace of the instance that holds both. */
  readonly instanceNamespace: string;
  /** Attackers by their role in their own namespace. */
  readonly people: Readonly<Record<"edit" | "admin", Person>>;
}

/** A workspace with a deployment `home`, and the account that deploys it. */
export interface Tenant {
  readonly workspace: Workspace;
  /** ServiceAccount in Argosy's namespace. */
  readonly account: { readonly namespace: string; readonly name: string };
  readonly project: string;
  readonly instanceNamespace: string;
}

interface OwnerBinding extends KubeObject {
  readonly subjects?: readonly { readonly namespace: string; readonly name: string }[];
}

export const OWNER_BINDING = "argosy-deployer";
const REPOSITORY = "attacks-home";

/** With three workspaces on two instances, two of them share one. */
export async function openScene(world: World): Promise<Scene> {
  await world.git.commit(REPOSITORY, { "home/config.yaml": configMapFile("home", { safe: "yes" }) });
  const tenants = await Promise.all(["attacks-a", "attacks-b", "attacks-c"].map((name) => becomeTenant(world, name)));
  for (const victim of tenants) {
    const attacker = tenants.find((other) => other !== victim && other.instanceNamespace === victim.instanceNamespace);
    if (attacker === undefined) continue;
    const { namespace } = attacker.workspace;
    const [edit, admin] = await Promise.all([openPerson(world, "edit", namespace), openPerson(world, "admin", namespace)]);
    return { victim, attacker, instanceNamespace: victim.instanceNamespace, people: { edit, admin } };
  }
  throw new Error("no two workspaces share an instance");
}

async function becomeTenant(world: World, namespace: string): Promise<Tenant> {
  const { kube, signal } = world;
  const workspace = await openWorkspace(world, namespace);
  await workspace.apply("home", { repository: REPOSITORY, path: "home" });
  await workspace.settled("home");
  const application = await applicationOf(world, namespace);
  const ownerBinding = await kube.get<OwnerBinding>(TYPES.roleBinding, { namespace, name: OWNER_BINDING }, signal);
  const subject = ownerBinding?.subjects?.[0];
  if (application === undefined || subject === undefined) throw new Error(`${namespace} is not deployed`);
  return {
    ...{ workspace, account: { namespace: subject.namespace, name: subject.name } },
    ...{ project: application.spec.project, instanceNamespace: application.metadata.namespace ?? "" },
  };
}

type ApplicationObject = KubeObject & { readonly spec: { readonly project: string } };

const applicationOf = async (world: World, namespace: string): Promise<ApplicationObject | undefined> =>
  (await findApplication(world, namespace, "home")) as ApplicationObject | undefined;

/** Kinds that nobody changes during an attack, and kinds whose status is written now and then. */
const STILL: readonly ResourceType[] = [TYPES.configMap, TYPES.secret, TYPES.service, TYPES.roleBinding, TARGET_TYPES.serviceAccount];
const REPORTED: readonly ResourceType[] = [TYPES.deployment, TYPES.syncRun, TYPES.credential, ENVIRONMENT];

type Specified = KubeObject & { readonly spec?: unknown };

/**
 * Everything of the victim that an attack could change, in a form that shows a change: the objects of its namespace
 * by version, its account, its project, and the specs of its deployment and Application.
 */
export async function stateOf(world: World, { workspace, account, project, instanceNamespace }: Tenant): Promise<unknown> {
  const { kube, signal } = world;
  const { namespace } = workspace;
  const exactly = ({ metadata }: KubeObject) => [metadata.name, metadata.uid, metadata.resourceVersion];
  const request = ({ metadata, spec }: Specified) => [metadata.name, metadata.uid, metadata.deletionTimestamp, spec];
  const list = async (type: ResourceType, shown: (object: Specified) => unknown) =>
    [type.kind, (await kube.listPage<Specified>(type, { namespace }, signal)).items.map(shown)] as const;
  const single = async (type: ResourceType, at: { readonly namespace: string; readonly name: string }) => {
    const found = await kube.get(type, at, signal);
    return [type.kind, found === undefined ? "gone" : exactly(found)] as const;
  };
  const application = await applicationOf(world, namespace);
  const objects = await Promise.all([
    ...STILL.map((type) => list(type, exactly)),
    ...REPORTED.map((type) => list(type, request)),
    single(TARGET_TYPES.serviceAccount, account),
    single(TYPES.project, { namespace: instanceNamespace, name: project }),
  ]);
  return [...objects, application === undefined ? "no Application" : request(application)];
}
