import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StaleError, UnavailableError } from "../domain/errors.ts";
import type { Instance, InstancePlace } from "../domain/instance.ts";
import type { Application, PlacementUnit } from "../domain/workspace.ts";
import { systemClock } from "../runtime/clock.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { clusterEntryName, projectName, readAccountName } from "../shard/names.ts";
import { CASCADE_FINALIZER } from "../shard/plan-application.ts";
import type { DesiredApplication } from "../store/shard/port.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS, ROLE_BINDINGS } from "./adapters/kubernetes/types.ts";
import { createApplicationRows } from "./applications/application-rows.ts";
import { createApplyApplication } from "./applications/apply-application.ts";
import { createPacing } from "./applications/pace-applications.ts";
import { createWaitForPrerequisites } from "./applications/read-applications.ts";
import { createObjectWriter } from "./apply-object.ts";
import { createHosts } from "./find-hosts.ts";
import { createApplyInstance } from "./instances/apply-instance.ts";
import { createEntryTokens } from "./instances/keep-entry-token.ts";
import { createReaderKinds } from "./instances/keep-reader-role.ts";
import type { Requests } from "./keys.ts";
import type { ApiCluster, EngineShard, Engines } from "./port.ts";
import { createRows } from "./read-and-record-rows.ts";
import { createProgress } from "./report-progress.ts";
import { addEnvironment } from "./testing/environments.ts";
import type { FaultMode } from "./testing/faults.ts";
import { createFaultPoints, FAULT_MODES } from "./testing/faults.ts";
import { eventually } from "./testing/until.ts";
import type { World } from "./testing/world.ts";
import { DESTINATION, EVERYTHING_IS_MINE, NAMESPACES, startWorld, TOKEN_LIFE } from "./testing/world.ts";
import { createClusterEntries } from "./units/apply-cluster-entries.ts";
import { createApplyOwnerBinding } from "./units/apply-owner-binding.ts";
import { createPrerequisites } from "./units/apply-prerequisites.ts";
import { createRepositorySecrets } from "./units/apply-repository-secrets.ts";
import { createApplyUnit } from "./units/apply-unit.ts";
import { createWorkspaceEntries } from "./units/apply-workspace-entry.ts";
import { createImpersonation } from "./units/grant-impersonation.ts";
import { createRepairReports } from "./units/report-repairs.ts";
import { createStandingEnvironments } from "./units/standing-environments.ts";

const common = {
  log: silentLog,
  metrics: noMetrics,
  clock: systemClock,
  destination: DESTINATION,
  namespaces: NAMESPACES,
  formerStaysMs: 0,
};
let world: World;
let instance: Instance;
let work: ReturnType<typeof build>;
const faults = createFaultPoints();
const NO_REQUESTS: Requests = {
  requestApplication: () => undefined,
  requestUnit: () => undefined,
  reviewUnit: () => undefined,
  requestSync: () => undefined,
  requestInstance: () => undefined,
  requestStatus: () => undefined,
  reviewStatus: () => undefined,
  requestFleet: () => undefined,
  requestRepairReport: () => undefined,
};
let count = 0;

beforeAll(async () => {
  world = await startWorld();
  const { apiCluster, engines } = await world.watch();
  instance = await world.rows.addInstance("one");
  const engine = await listed(engines, instance);
  work = build(apiCluster, engines, engine);
  await eventually("the instance is ready", async () => {
    await work.applyInstance(instance.id, world.signal);
    return engine.entries.list(instance.namespace).length === 1;
  });
});
afterAll(() => world.close());

/** The content of an instance, once all of it is known. */
async function listed(engines: Engines, place: InstancePlace): Promise<EngineShard> {
  const shard = await engines.get(place);
  if (shard === undefined) throw new Error("the engine cluster is not there");
  await shard.synced(world.signal);
  return shard;
}

/** The steps, over ports of which any call may break. What they ask for is not done. `engine`: the content of the instance of all but one test. */
function build(plainApi: ApiCluster, engines: Engines, engine: EngineShard) {
  const { wrap } = faults;
  const { accounts, bindings, roles, tokens } = plainApi;
  const apiCluster = { ...plainApi, accounts: wrap(accounts), bindings: wrap(bindings), roles: wrap(roles), tokens: wrap(tokens) };
  const breakable = async (place: InstancePlace) => {
    const shard = await listed(engines, place);
    const { applications, projects, repositories, entries } = shard;
    return {
      ...shard,
      applications: wrap(applications),
      projects: wrap(projects),
      repositories: wrap(repositories),
      entries: wrap(entries),
    };
  };
  const { store } = world.rows;
  const shards = wrap(store.shards);
  const requests = NO_REQUESTS;
  const rows = createRows({ ...store, shards });
  const applicationRows = createApplicationRows<DesiredApplication>(systemClock);
  const hosts = createHosts({ fleet: wrap(store.fleet), engines: { get: breakable }, partition: EVERYTHING_IS_MINE });
  const writer = createObjectWriter(common);
  const pacing = createPacing({ ...common, requests, unfinishedPerUnit: 1 });
  const credentials = wrap(store.credentials);
  const standingEnvironments = createStandingEnvironments();
  const base = { ...common, apiCluster, shards, credentials, requests, rows, applicationRows, hosts, writer, pacing, standingEnvironments };
  const progress = createProgress({ ...base, held: plainApi.held });
  const impersonation = createImpersonation({ ...base, signal: world.signal });
  const clusterEntries = createClusterEntries(base);
  const repositorySecrets = createRepositorySecrets(base);
  const repairs = createRepairReports({ ...base, decisions: store.decisions });
  const applyOwnerBinding = createApplyOwnerBinding({ ...base, repairs });
  const readerKinds = createReaderKinds({ ...base, reader: plainApi.reader });
  const entryTokens = createEntryTokens({ ...base, readerKinds, tokenLife: TOKEN_LIFE, rng: createSeededRng("tokens") });
  const workspaceEntries = createWorkspaceEntries({ ...base, entryTokens });
  const parts = {
    ...base,
    entryTokens,
    workspaceEntries,
    progress,
    impersonation,
    clusterEntries,
    repositorySecrets,
    repairs,
    applyOwnerBinding,
  };
  return {
    engine,
    bindings: plainApi.bindings,
    applyInstance: createApplyInstance({
      ...parts,
      readerKinds,
      sweep: { sweep: async () => undefined, isThoroughDue: () => true },
    }),
    applyApplication: createApplyApplication({ ...parts, waitForPrerequisites: createWaitForPrerequisites(parts) }),
    applyUnit: createApplyUnit({ ...parts, prerequisites: createPrerequisites(parts) }),
  };
}

/** Runs a key until it ends well, as the queue does. */
async function insist(run: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return void (await run());
    } catch (error) {
      if (!(error instanceof UnavailableError || error instanceof StaleError)) throw error;
    }
  }
  throw new Error("does not get anywhere");
}

interface Deployed {
  readonly unit: PlacementUnit;
  readonly application: Application;
}

async function deploy(isUnitStanding: boolean): Promise<Deployed> {
  count += 1;
  const application = await world.rows.addApplication(`team-${count}`, "web");
  const unit = await world.rows.place(application, instance.id);
  if (isUnitStanding) await insist(() => work.applyUnit(unit.id, world.signal));
  return { unit, application };
}

const readApplication = ({ application }: Deployed) =>
  world.hands.engine.get<KubeObject & { readonly spec?: unknown }>(
    APPLICATIONS,
    { namespace: instance.namespace, name: application.argoName },
    world.signal,
  );

/**
 * Runs a scenario once for each call it makes, with that call broken, until none is left to break. `check` examines the end
 * of each. Returns the names of the calls that were broken.
 */
async function breakEach(mode: FaultMode, scenario: () => Promise<{ run: () => Promise<unknown>; check: () => Promise<void> }>) {
  const names: string[] = [];
  for (let index = 0; ; index += 1) {
    const { run, check } = await scenario();
    faults.arm(index, mode);
    await insist(run);
    const name = faults.broke();
    faults.arm(-1, mode);
    await check();
    if (name === undefined) return names;
    names.push(name);
  }
}

describe.each(FAULT_MODES)("an application converges when any one call %s", (mode) => {
  const reconcile = ({ application }: Deployed) => work.applyApplication(application.id, world.signal);
  const isSettled = async (deployed: Deployed, revision: number) => {
    const raw = await readApplication(deployed);
    const { application } = deployed;
    expect(await world.rows.acknowledged("application", application.id)).toMatchObject({
      appliedRevision: revision,
      uid: raw?.metadata.uid,
    });
    return raw;
  };

  test("while it is created", async () => {
    const broken = await breakEach(mode, async () => {
      const deployed = await deploy(true);
      return { run: () => reconcile(deployed), check: async () => void (await isSettled(deployed, 1)) };
    });
    expect(broken).toEqual(["readApplications", "create", "acknowledge"]);
  });

  test("while it is changed, and what was there has been edited and lost its labels", async () => {
    const broken = await breakEach(mode, async () => {
      const deployed = await deploy(true);
      await insist(() => reconcile(deployed));
      const at = { namespace: instance.namespace, name: deployed.application.argoName };
      await world.hands.engine.mergePatch(APPLICATIONS, at, { metadata: { labels: null }, spec: { project: "default" } }, world.signal);
      await eventually("the edit is seen", () => work.engine.applications.get(at) === undefined);
      await world.rows.changeSpec(deployed.application, { type: "manual" });
      const check = async () => {
        const raw = await isSettled(deployed, 2);
        expect(raw?.spec).toMatchObject({ project: projectName(deployed.unit.id) });
        expect(raw?.spec).not.toHaveProperty("syncPolicy.automated");
      };
      return { run: () => reconcile(deployed), check };
    });
    expect(broken).toEqual(["readApplications", "create", "read", "patch", "acknowledge"]);
  });

  test.each(["cascade", "orphan"] as const)("while it is deleted (%s)", async (deletion) => {
    await breakEach(mode, async () => {
      const deployed = await deploy(true);
      await insist(() => reconcile(deployed));
      await world.rows.deleteApplication(deployed.application, deletion);
      const check = async () => {
        await eventually("the row is forgotten", async () => {
          await insist(() => reconcile(deployed));
          return (await world.rows.application(deployed.application.id)) === undefined;
        });
        expect(await readApplication(deployed)).toBeUndefined();
        const path = `/${deployed.application.argoName}`;
        const patches = world.engineServer.requests().filter(({ method, url }) => method === "PATCH" && url.endsWith(path));
        expect(
          patches.some(({ body, headers }) => body.includes(CASCADE_FINALIZER) && String(headers["content-type"]).includes("json-patch")),
        ).toBe(deletion === "cascade");
      };
      return { run: () => reconcile(deployed), check };
    });
  });
});

describe.each(FAULT_MODES)("an instance's access converges when any one call %s", (mode) => {
  test("while it is made, where an earlier version kept a token without an end", async () => {
    const broken = await breakEach(mode, async () => {
      count += 1;
      const other = await world.rows.addInstance(`instance-${count}`);
      const account = { namespace: NAMESPACES.accounts, name: readAccountName(other.id) };
      const metadata = { ...account, annotations: { "kubernetes.io/service-account.name": account.name } };
      await world.hands.api.create(ENGINE_SECRETS, { apiVersion: "v1", kind: "Secret", metadata }, world.signal);
      const check = async () => {
        const entry = await world.hands.engine.get<KubeObject & { readonly data?: { readonly config?: string } }>(
          ENGINE_SECRETS,
          { namespace: other.namespace, name: clusterEntryName(DESTINATION.server) },
          world.signal,
        );
        expect(Buffer.from(entry?.data?.config ?? "", "base64").toString()).toContain(`token-of-${account.name}`);
        expect(await world.hands.api.get(ENGINE_SECRETS, account, world.signal)).toBeUndefined();
      };
      return { run: () => work.applyInstance(other.id, world.signal), check };
    });
    expect(broken).toEqual(expect.arrayContaining(["create", "issue", "removeEndless"]));
  });
});

describe.each(FAULT_MODES)("a unit converges when any one call %s", (mode) => {
  const readOwnerBinding = (deployed: Deployed) =>
    world.hands.api
      .get<KubeObject & { readonly roleRef?: unknown }>(
        ROLE_BINDINGS,
        { namespace: `team-${count}`, name: "argosy-deployer" },
        world.signal,
      )
      .then((raw) => ({ raw, deployed }));
  const readProject = ({ unit }: Deployed) =>
    world.hands.engine.get(PROJECTS, { namespace: instance.namespace, name: projectName(unit.id) }, world.signal);
  const isStanding = async (deployed: Deployed) => {
    const { raw } = await readOwnerBinding(deployed);
    expect(raw).toMatchObject({ roleRef: { name: "argosy-deployer" } });
    expect(await readProject(deployed)).toBeDefined();
    const { desiredRevision: appliedRevision, epoch } = deployed.unit;
    for (const kind of ["account", "owner-binding", "project"] as const) {
      expect(await world.rows.acknowledged(kind, deployed.unit.id)).toMatchObject({ appliedRevision, epoch });
    }
  };

  test("while its objects are made", async () => {
    const broken = await breakEach(mode, async () => {
      const deployed = await deploy(false);
      return { run: () => work.applyUnit(deployed.unit.id, world.signal), check: () => isStanding(deployed) };
    });
    expect(broken).toEqual(expect.arrayContaining(["readUnit", "create", "listActing", "patch", "acknowledge"]));
  });

  test("while one repository's Secret is changed, one made and one taken away", async () => {
    const tokensOf = async ({ unit }: Deployed) => {
      const labelSelector = `argosy.dev/unit=${unit.id},argocd.argoproj.io/secret-type=repository`;
      const { items } = await world.hands.engine.listPage<KubeObject & { readonly data?: { readonly bearerToken?: string } }>(
        ENGINE_SECRETS,
        { namespace: instance.namespace, labelSelector },
        world.signal,
      );
      return items.map(({ data }) => Buffer.from(data?.bearerToken ?? "", "base64").toString()).sort();
    };
    const broken = await breakEach(mode, async () => {
      const deployed = await deploy(false);
      const add = (name: string, token: string) =>
        world.rows.addCredential(deployed.application, name, { url: `https://git.example/${name}`, secret: { kind: "bearer", token } });
      await add("changed", "before");
      const gone = await add("gone", "gone");
      await insist(() => work.applyUnit(deployed.unit.id, world.signal));
      await eventually("both are seen", () => work.engine.repositories.list(instance.namespace).length >= 2);
      await add("changed", "after");
      await add("new", "new");
      await world.rows.revokeCredential(gone);
      const check = async () => {
        expect(await tokensOf(deployed)).toEqual(["after", "new"]);
        const desired = (await world.rows.unit(deployed.unit.id))?.desiredRevision;
        expect(await world.rows.acknowledged("project", deployed.unit.id)).toMatchObject({ appliedRevision: desired });
      };
      return { run: () => work.applyUnit(deployed.unit.id, world.signal), check };
    });
    expect(broken).toEqual(expect.arrayContaining(["readUnit", "read", "create", "patch", "delete", "acknowledge"]));
  });

  test("while an owner binding that binds another role is replaced", async () => {
    const broken = await breakEach(mode, async () => {
      const deployed = await deploy(false);
      const foreign = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "argosy-deployer", namespace: `team-${count}` },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      };
      await world.hands.api.create(ROLE_BINDINGS, foreign, world.signal);
      return { run: () => work.applyUnit(deployed.unit.id, world.signal), check: () => isStanding(deployed) };
    });
    expect(broken).toContain("delete");
  });

  test("while an owner binding with a forged epoch and foreign subjects is put back", async () => {
    const broken = await breakEach(mode, async () => {
      const deployed = await deploy(true);
      const annotations = { "argosy.dev/epoch": "999999999" };
      const at = { namespace: `team-${count}`, name: "argosy-deployer" };
      await world.hands.api.mergePatch(ROLE_BINDINGS, at, { metadata: { annotations }, subjects: [] }, world.signal);
      await eventually("the edit is seen", () => work.bindings.get(at)?.epoch === 999_999_999);
      const check = async () => {
        await isStanding(deployed);
        expect((await readOwnerBinding(deployed)).raw).toMatchObject({
          metadata: { annotations: { "argosy.dev/epoch": String(deployed.unit.epoch) } },
          subjects: [{ kind: "ServiceAccount" }],
        });
      };
      return { run: () => work.applyUnit(deployed.unit.id, world.signal), check };
    });
    expect(broken).toEqual(expect.arrayContaining(["readUnit", "patch"]));
  });

  test("while it is taken down", async () => {
    const broken = await breakEach(mode, async () => {
      const deployed = await deploy(true);
      await world.rows.deleteApplication(deployed.application, "cascade");
      await insist(() => work.applyApplication(deployed.application.id, world.signal));
      await world.rows.endWorkspace(deployed.application);
      const check = async () => {
        expect((await readOwnerBinding(deployed)).raw).toBeUndefined();
        expect(await readProject(deployed)).toBeUndefined();
        expect(await world.rows.unit(deployed.unit.id)).toBeUndefined();
      };
      return { run: () => work.applyUnit(deployed.unit.id, world.signal), check };
    });
    expect(broken).toEqual(expect.arrayContaining(["readUnit", "delete", "read", "forgetWorkspace"]));
  });
});

describe.each(FAULT_MODES)("the entry of an environment converges when any one call %s", (mode) => {
  const deployElsewhere = async () => {
    count += 1;
    const namespace = `team-${count}`;
    const application = await world.rows.addApplication(namespace, "web", { destination: { environment: "prod", namespace: "web" } });
    const unit = await world.rows.place(application, instance.id);
    const environment = await addEnvironment(world, `environment-uid-${count}`, namespace);
    await environment.connect("token");
    return { unit, environment };
  };
  const isRecorded = async (unit: PlacementUnit) =>
    (await world.rows.store.shards.readUnit(unit.id, world.signal))?.acknowledged.some(({ kind }) => kind === "cluster-entry");

  test("while it is made", async () => {
    const broken = await breakEach(mode, async () => {
      const { unit, environment } = await deployElsewhere();
      const check = async () => {
        expect(await environment.entry(instance.namespace)).toMatchObject({ server: environment.server });
        expect(await isRecorded(unit)).toBe(true);
      };
      return { run: () => work.applyUnit(unit.id, world.signal), check };
    });
    expect(new Set(broken)).toEqual(new Set(["readUnit", "listActing", "read", "create", "patch", "acknowledge"]));
  });

  test("while it is taken away", async () => {
    const broken = await breakEach(mode, async () => {
      const { unit, environment } = await deployElsewhere();
      await insist(() => work.applyUnit(unit.id, world.signal));
      await environment.withdraw();
      const check = async () => {
        expect(await environment.entry(instance.namespace)).toBeUndefined();
        expect(await isRecorded(unit)).toBe(false);
      };
      return { run: () => work.applyUnit(unit.id, world.signal), check };
    });
    expect(broken).toEqual(expect.arrayContaining(["readUnit", "delete", "forgetObjects"]));
  });

  test("and nobody calls its unit done while it is there: whoever comes after a process that died finds both", async () => {
    const isLagging = async ({ id }: PlacementUnit) =>
      (await world.rows.store.shards.listLagging([instance.id], 1000, world.signal)).units.includes(id);
    const seen = new Set<string | undefined>();
    for (let index = 0; !seen.has(undefined); index += 1) {
      const { unit, environment } = await deployElsewhere();
      await insist(() => work.applyUnit(unit.id, world.signal));
      await environment.withdraw();
      faults.arm(index, mode);
      await work.applyUnit(unit.id, world.signal).catch(() => undefined);
      seen.add(faults.broke());
      faults.arm(-1, mode);
      const isLeft = (await environment.entry(instance.namespace)) !== undefined || (await isRecorded(unit)) === true;
      if (isLeft) expect(await isLagging(unit)).toBe(true);
    }
    expect(seen).toContain("delete");
  });
});
