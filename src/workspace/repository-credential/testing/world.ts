import type { Partition } from "../../../domain/partition.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createCountingIds } from "../../../runtime/ids.ts";
import { NAMESPACES } from "../../../runtime/kube/namespaces.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import type { RepositoryCredentialView } from "../../../store/repository-credential/port.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createUserResources } from "../../adapters/kubernetes/user-resources.ts";
import { createUserSecrets, SECRETS } from "../../adapters/kubernetes/user-secrets.ts";
import { createWatchedKind, watchedTypeOf } from "../../adapters/kubernetes/watched-kind.ts";
import { USER_KINDS } from "../../api/names.ts";
import { type World as DeploymentWorld, startWorld as startDeploymentWorld } from "../../testing/world.ts";
import { createRepositoryCredentialController } from "../controller.ts";
import type { CredentialOutcome } from "../outcome.ts";
import type { RepositoryTarget } from "../port.ts";

const CREDENTIALS = watchedTypeOf(USER_KINDS.credential);
export const URL = "https://git.example/jane/guestbook";

type Credential = KubeObject & {
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Readonly<Record<string, string>>[] };
};

/** The world of deployments' controller, with one for credentials and Git hosts that answer what a test says. */
export interface World extends DeploymentWorld {
  /** `wrap`: what stands between the controller and each of its ports. */
  startCredentialController(partition?: Partition, wrap?: <T extends object>(port: T) => T): void;
  /** How probes end from now on; a promise keeps them waiting. */
  answerWith(answer: (target: RepositoryTarget) => CredentialOutcome | Promise<CredentialOutcome>): void;
  observations(): readonly RepositoryTarget[];
  putSecret(
    name: string,
    data: Readonly<Record<string, string>>,
    over?: { readonly namespace?: string; readonly type?: string },
  ): Promise<void>;
  removeSecret(name: string): Promise<void>;
  putCredential(
    name: string,
    over?: {
      readonly namespace?: string;
      readonly repository?: string;
      readonly secret?: string;
      readonly annotations?: Readonly<Record<string, string>>;
    },
  ): Promise<void>;
  removeCredential(name: string): Promise<void>;
  readCredential(name: string, namespace?: string): Promise<Credential | undefined>;
  /** `Type=Status/Reason` of each condition, sorted. */
  saidOf(name: string, namespace?: string): Promise<readonly string[]>;
  recorded(namespace?: string): Promise<readonly RepositoryCredentialView[]>;
  secretOf(uid: string): Promise<string | undefined>;
}

const ALL: Partition = { isMine: () => true, onChange: () => () => undefined };

export async function startWorld(): Promise<World> {
  const base = await startDeploymentWorld();
  const { server, store, hands, signal } = base;
  const controllers: { stop(): Promise<void> }[] = [];
  const taken: RepositoryTarget[] = [];
  let answer: (target: RepositoryTarget) => CredentialOutcome | Promise<CredentialOutcome> = () => "readable";
  const at = (name: string, namespace = "jane") => ({ namespace, name });
  const recorded = async (namespace = "jane") => {
    const namespaceUid = (await hands.get(NAMESPACES, { namespace: "", name: namespace }, signal))?.metadata.uid ?? "";
    return store.repositoryCredentials.listOfWorkspace({ plane: "kubernetes", apiCluster: "api", namespaceUid }, signal);
  };
  const world: World = {
    ...base,
    startCredentialController(partition = ALL, wrap = (port) => port) {
      const common = {
        clock: systemClock,
        rng: createSeededRng(`credential controller ${controllers.length}`),
        log: silentLog,
        metrics: noMetrics,
      };
      const client = server.client("api");
      const namespaces = createUserResources({ ...common, client });
      namespaces.start(signal);
      const controller = createRepositoryCredentialController({
        observationsAtOnce: 8,
        ...common,
        ...{ partition, namespaces, apiCluster: "api", ids: createCountingIds() },
        store: { ...store, repositoryCredentials: wrap(store.repositoryCredentials) },
        resources: wrap(createWatchedKind({ ...common, client, kind: USER_KINDS.credential })),
        secrets: wrap(createUserSecrets({ ...common, client, unwatchedEveryMs: 20 })),
        observer: {
          async observe(target) {
            taken.push(target);
            return answer(target);
          },
        },
      });
      controllers.push(controller);
      controller.start(signal);
    },
    answerWith(next) {
      answer = next;
    },
    observations: () => taken,
    async putSecret(name, data, { namespace, type = "managed-gitops.redhat.com/repository-credential" } = {}) {
      const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
      const secret = { apiVersion: "v1", kind: "Secret", metadata: at(name, namespace), type, data: encoded };
      await hands.apply(SECRETS, secret, { fieldManager: "jane" }, signal);
    },
    removeSecret: (name) => hands.delete(SECRETS, at(name), {}, signal),
    async putCredential(name, { namespace, repository = URL, secret = "access", annotations } = {}) {
      const metadata = { ...at(name, namespace), ...(annotations && { annotations }) };
      const resource = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: CREDENTIALS.kind, metadata, spec: { repository, secret } };
      await hands.apply(CREDENTIALS, resource, { fieldManager: "jane" }, signal);
    },
    removeCredential: (name) => hands.delete(CREDENTIALS, at(name), {}, signal),
    readCredential: (name, namespace) => hands.get<Credential>(CREDENTIALS, at(name, namespace), signal),
    async saidOf(name, namespace) {
      const conditions = (await world.readCredential(name, namespace))?.status?.conditions ?? [];
      return conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).sort();
    },
    recorded,
    async secretOf(uid) {
      const found = (await recorded()).find(({ credential }) => credential.uid === uid)?.credential;
      if (found === undefined) return undefined;
      return store.credentials.read({ id: found.credentialId, owner: found.workspaceId, purpose: "repository" }, signal);
    },
    async close() {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await base.close();
    },
  };
  return world;
}
