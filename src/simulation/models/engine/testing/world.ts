import { DEPLOYER_ROLE } from "../../../../domain/names.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS, ROLE_BINDINGS } from "../../../../reconciler/adapters/kubernetes/types.ts";
import { metadataOf, nameOf } from "../../../../runtime/kube/testing/object-rules.ts";
import { createHistory } from "../../../history.ts";
import { createFailpoints } from "../../../world/failpoints.ts";
import { createNetwork } from "../../../world/network.ts";
import { createParty, type Party } from "../../../world/party.ts";
import { createWorld } from "../../../world/world.ts";
import { createAuthority } from "../../authority.ts";
import { createGit } from "../../git.ts";
import { createSimulatedClient } from "../../kubernetes/client.ts";
import { createKubeServer, NAMESPACE_TYPE } from "../../kubernetes/server.ts";
import { textAt } from "../../kubernetes/text.ts";
import { CASCADE, type EngineApplication, TRACKING, trackingId } from "../application.ts";
import { CONFIG_MAPS } from "../cluster-cache.ts";
import { startEngine } from "../engine.ts";
import type { Making } from "../scripts/stage.ts";

const SERVER = "https://api.example";
const AT = { namespace: "argocd", name: "app" };
const WRITE = { isStatus: false, dryRun: false };

/** One instance with one Application of one object, and the functions to change them. */
export function aWorld() {
  const world = createWorld("engine", createHistory());
  const network = createNetwork(world, createFailpoints(world.rng.fork("faults"), []));
  const [engine, api, git] = [createKubeServer(world, "engine"), createKubeServer(world, "api"), createGit(world)];
  createAuthority(world, api, 1);
  engine.objects.create(NAMESPACE_TYPE, "", { sent: { metadata: { name: AT.namespace } }, dryRun: false });
  api.objects.create(NAMESPACE_TYPE, "", { sent: { metadata: { name: "team" } }, dryRun: false });
  git.push("folder", { "app-0": "first" });
  const entry = { name: "api", labels: { "argocd.argoproj.io/secret-type": "cluster" } };
  const putEntry = () =>
    engine.objects.create(ENGINE_SECRETS, AT.namespace, {
      sent: { metadata: entry, data: { server: Buffer.from(SERVER).toString("base64") } },
      dryRun: false,
    });
  putEntry();
  const account = { namespace: "team", defaultServiceAccount: "argosy-accounts:account" };
  const project = { metadata: { name: "project" }, spec: { sourceRepos: [git.url], destinationServiceAccounts: [account] } };
  engine.objects.create(PROJECTS, AT.namespace, { sent: project, dryRun: false });
  const start = (life: number): Party => {
    const party = createParty(world, "standard-1", life);
    const client = (server: typeof engine) => createSimulatedClient({ world, network, party, server });
    startEngine({ party, namespace: AT.namespace, own: client(engine), managed: client(api), git });
    return party;
  };
  let lives = 1;
  let party = start(0);
  const spec = {
    project: "project",
    source: { repoURL: git.url, path: "folder" },
    destination: { server: SERVER, namespace: "team" },
    syncPolicy: { automated: {}, retry: { limit: -1 } },
  };
  return {
    world,
    git,
    create: (annotations: Record<string, string> = {}, { isAutomated = true, status }: Pick<Making, "isAutomated" | "status"> = {}) => {
      const { automated: _automated, ...manual } = spec.syncPolicy;
      const sent = { metadata: { name: AT.name, annotations }, spec: isAutomated ? spec : { ...spec, syncPolicy: manual } };
      return engine.objects.create(APPLICATIONS, AT.namespace, {
        sent: (status === undefined ? sent : { ...sent, status }) as never,
        dryRun: false,
      });
    },
    remove: () => engine.objects.delete(APPLICATIONS, AT, { body: {}, dryRun: false }),
    setEntry: (isThere: boolean) =>
      isThere
        ? putEntry()
        : engine.objects.delete(ENGINE_SECRETS, { namespace: AT.namespace, name: entry.name }, { body: {}, dryRun: false }),
    /** The controller dies without warning, and another one starts with the objects that are there. */
    restart() {
      party.kill();
      party = start(lives);
      lives += 1;
    },
    permit: () =>
      api.objects.create(ROLE_BINDINGS, "team", {
        sent: { metadata: { name: "owner" }, roleRef: { name: DEPLOYER_ROLE }, subjects: [{ name: "account" }] },
        dryRun: false,
      }),
    revoke: () => api.objects.delete(ROLE_BINDINGS, { namespace: "team", name: "owner" }, { body: {}, dryRun: false }),
    cascade() {
      engine.objects.mergePatch(APPLICATIONS, AT, { ...WRITE, patch: { metadata: { finalizers: [CASCADE] } } });
      engine.objects.delete(APPLICATIONS, AT, { body: {}, dryRun: false });
    },
    patch: (patch: object) => engine.objects.mergePatch(APPLICATIONS, AT, { ...WRITE, patch: patch as never }),
    application: () => engine.objects.list(APPLICATIONS, AT.namespace)[0] as unknown as EngineApplication | undefined,
    plant: (name: string) => {
      const annotations = { [TRACKING]: trackingId(AT.name, "team", name) };
      return api.objects.create(CONFIG_MAPS, "team", { sent: { metadata: { name, annotations } }, dryRun: false });
    },
    objects: () => api.objects.list(CONFIG_MAPS, "team").map(nameOf),
    versions: () =>
      Object.fromEntries(
        api.objects.list(CONFIG_MAPS, "team").map((object) => [nameOf(object), textAt(metadataOf(object), "resourceVersion")]),
      ),
  };
}
