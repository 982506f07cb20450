import type { EngineObject, ObservedComponent, ObservedInstance } from "../../../domain/engine.ts";
import { GoneError, UnavailableError } from "../../../domain/errors.ts";
import { contentHash } from "../../../domain/hash.ts";
import type { InstanceId } from "../../../domain/ids.ts";
import { FIELD_MANAGER } from "../../../domain/names.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { CONTROLLER, QUOTA, REDIS, REPO_SERVER } from "../../manifests/names.ts";
import type { EngineClusterPort, InstancePlace } from "../../port.ts";
import { ensureDefinitions } from "./definitions.ts";
import { podTroubles, type SeenPod } from "./pod-trouble.ts";
import { seenObject } from "./seen-object.ts";
import { DEPLOYMENTS, INSTANCE_APPLICATIONS, INSTANCE_NAMESPACES, instanceTypeOf, PODS, QUOTAS, STATEFUL_SETS } from "./types.ts";
import { type WatchedInstanceObjects, type WatchOptions, watchObjects } from "./watched-objects.ts";

const WORKLOADS = [
  { type: STATEFUL_SETS, name: CONTROLLER },
  { type: DEPLOYMENTS, name: REPO_SERVER },
  { type: DEPLOYMENTS, name: REDIS },
] as const;

/** An engine cluster, reached by the Kubernetes API. Its watches run until `signal` aborts. */
export function createEngineCluster(options: WatchOptions, onChange: (id: InstanceId) => void, signal: AbortSignal): EngineClusterPort {
  const { client } = options;
  const watched = watchObjects(options, onChange);
  watched.start(signal);
  const writer = createObjectWriter(client, watched);
  return {
    name: client.cluster,
    async observe(instance, abort) {
      await watched.synced(abort);
      return observe(client, watched, instance, abort);
    },
    async applyObjects(objects, abort) {
      await watched.synced(abort);
      const written: string[] = [];
      for (const object of objects) if (await writer.write(object, abort)) written.push(`${object.kind}/${object.metadata.name}`);
      return written;
    },
    leftOf: async (objects) => writer.leftOf(objects),
    async adoptObjects(objects, left, abort) {
      await watched.synced(abort);
      writer.adopt(objects, left);
    },
    ensureCrds: (crds, abort) => ensureDefinitions(client, crds, abort),
    async deleteNamespace(instance, abort) {
      const namespace = await client.get(INSTANCE_NAMESPACES, { namespace: "", name: instance.namespace }, abort);
      // It does not exist, or belongs to another instance. Nothing to delete; the next observation will show that.
      if (namespace === undefined || seenObject(namespace).instanceId !== instance.id) return { kind: "deleting" };
      const applications = await countHeld(client, instance.namespace, abort);
      if (applications > 0) return { kind: "held", applications };
      const { uid } = namespace.metadata;
      await client.delete(
        INSTANCE_NAMESPACES,
        { namespace: "", name: instance.namespace },
        { ...(uid === undefined ? {} : { preconditions: { uid } }) },
        abort,
      );
      return { kind: "deleting" };
    },
  };
}

/** What an object was written from, and what it was in the cluster after that. */
interface Left {
  readonly sent: string;
  readonly fingerprint: string;
}

type Entry = readonly [key: string, left: Left];

interface ObjectWriter {
  /**
   * Writes an object unless it is still as this process last left it. Fields that others have set beside ours are then
   * part of the expected state, so two writers of different fields do not overwrite each other again and again.
   */
  write(object: EngineObject, signal: AbortSignal): Promise<boolean>;
  leftOf(objects: readonly EngineObject[]): string | undefined;
  adopt(objects: readonly EngineObject[], left: string): void;
}

function createObjectWriter(client: KubeClient, watched: WatchedInstanceObjects): ObjectWriter {
  const left = new Map<string, Left>();
  const keyOf = ({ kind, metadata: { name, namespace = "" } }: EngineObject): string => `${kind}|${namespace}|${name}`;
  const fingerprintOf = ({ kind, metadata: { name, namespace = "" } }: EngineObject): string | undefined =>
    watched.get(kind, { namespace, name })?.fingerprint;
  return {
    async write(object, signal) {
      const [key, sent] = [keyOf(object), contentHash(object)];
      const before = left.get(key);
      if (before?.sent === sent && fingerprintOf(object) === before.fingerprint) return false;
      const written = await client.apply<KubeObject>(instanceTypeOf(object.kind), object, { fieldManager: FIELD_MANAGER }, signal);
      left.set(key, { sent, fingerprint: seenObject(written).fingerprint });
      return true;
    },
    leftOf(objects) {
      const known = objects.flatMap((object): readonly Entry[] => {
        const [key, before] = [keyOf(object), left.get(keyOf(object))];
        return before === undefined ? [] : [[key, before]];
      });
      return known.length < objects.length ? undefined : contentHash(known);
    },
    adopt(objects, hash) {
      if (objects.every((object) => left.has(keyOf(object)))) return;
      // Keys are part of the hash: where an object is missing it is another.
      const found = objects.flatMap((object): readonly Entry[] => {
        const fingerprint = fingerprintOf(object);
        return fingerprint === undefined ? [] : [[keyOf(object), { sent: contentHash(object), fingerprint }]];
      });
      if (contentHash(found) === hash) for (const entry of found) left.set(...entry);
    },
  };
}

async function observe(
  client: KubeClient,
  watched: WatchedInstanceObjects,
  { id, namespace }: InstancePlace,
  signal: AbortSignal,
): Promise<ObservedInstance> {
  const at = { namespace: "", name: namespace };
  // A namespace without our label is not watched, but may exist.
  const found = watched.get(INSTANCE_NAMESPACES.kind, at) ?? (await observeNamespace(client, namespace, signal));
  if (found === undefined) return { namespace: "absent" };
  if (found.instanceId !== id) return { namespace: "foreign", owner: found.instanceId };
  if (found.isDeleting) return { namespace: "terminating" };
  const components = WORKLOADS.flatMap(({ type, name }) => {
    const seen = watched.get(type.kind, { namespace, name });
    return seen === undefined ? [] : [{ name, ...seen.readiness }];
  });
  const quota = watched.get(QUOTAS.kind, { namespace, name: QUOTA })?.quota;
  const ours = { namespace: "ours", ...(quota && { quota }) } as const;
  if (components.every(({ isReady }) => isReady)) {
    const stopped = watched.get(STATEFUL_SETS.kind, { namespace, name: CONTROLLER })?.isStopped === true;
    return { ...ours, components, ...(stopped && { isHalted: await hasNoPod(client, namespace, signal) }) };
  }
  const pods = await client.listPage<SeenPod>(PODS, { namespace, limit: MOST_PODS }, signal);
  const troubles = podTroubles(pods.items);
  return { ...ours, components: components.map((one) => withTrouble(one, troubles.get(one.name))) };
}

/** More pods than an instance's quota allows. */
const MOST_PODS = 50;

/**
 * Asks the API server instead of the watch: a pod of that name which somebody else created, or which is being
 * deleted, may still run a controller.
 */
async function hasNoPod(client: KubeClient, namespace: string, signal: AbortSignal): Promise<boolean> {
  const labelSelector = `app.kubernetes.io/name=${CONTROLLER}`;
  return (await client.listPage<SeenPod>(PODS, { namespace, labelSelector, limit: 1 }, signal)).items.length === 0;
}

function withTrouble(component: ObservedComponent, trouble: string | undefined): ObservedComponent {
  return component.isReady || trouble === undefined ? component : { ...component, trouble };
}

async function observeNamespace(client: KubeClient, name: string, signal: AbortSignal): Promise<ReturnType<typeof seenObject> | undefined> {
  const found = await client.get(INSTANCE_NAMESPACES, { namespace: "", name }, signal);
  return found === undefined ? undefined : seenObject(found);
}

/**
 * Counts Applications that have a finalizer. Their controller goes with the namespace, and nobody else would remove
 * the finalizers.
 */
async function countHeld(client: KubeClient, namespace: string, signal: AbortSignal): Promise<number> {
  let held = 0;
  let continueToken: string | undefined;
  try {
    do {
      const page = await client.listPage<KubeObject>(
        INSTANCE_APPLICATIONS,
        { namespace, limit: 200, ...(continueToken === undefined ? {} : { continueToken }) },
        signal,
      );
      held += page.items.filter((item) => (item.metadata.finalizers ?? []).length > 0).length;
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
  } catch (error) {
    // A kind that the cluster does not know has no objects.
    if (!(error instanceof GoneError || (error instanceof UnavailableError && error.code === "kube.unknown-path"))) throw error;
  }
  return held;
}
