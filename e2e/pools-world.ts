import { withDigestOfName } from "../hack/fleet/images.ts";
import type { InstanceView } from "../src/api/schema.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { declareFleet } from "./declare-fleet.ts";
import { TYPES, until, type World } from "./world.ts";

interface Catalogued {
  readonly version: string;
  readonly image: string;
  readonly redisImage: string;
  readonly crds: string;
}

/** The parts of a Fleet document that stories change. The rest stays as it was declared. */
export interface FleetDocument {
  readonly versions: { readonly catalogue: readonly Catalogued[] };
  readonly pools: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

/** A release made of another one with the programs of a tag, on nodes where images are names. */
export function releaseTagged(release: Catalogued, version: string, tag: string): Catalogued {
  return { ...release, version, image: withDigestOfName(release.image.replace(/:[^:@]*@.*$/, `:${tag}`)) };
}

/** An instance is retired once its workspaces are moved or their namespaces are gone. */
const RESTORE_TIMEOUT_MS = 10 * 60_000;

/** The fleet as an SRE changes it, and what can be observed of it. */
export interface PoolsWorld {
  /** The Fleet document that all stories share. */
  readonly document: FleetDocument;
  /** That document with another pool in front, so that new workspaces get its class. */
  withPool(pool: PoolChanges, change?: Readonly<Record<string, unknown>>): FleetDocument;
  declare(document: FleetDocument, options?: { readonly prune: boolean }): Promise<void>;
  instances(): Promise<readonly InstanceView[]>;
  /** Waits until the instance is as wanted, and returns it. */
  instance(name: string, what: string, isReached: (found: InstanceView | undefined) => boolean): Promise<InstanceView | undefined>;
  /** Whether it takes units: new workspaces go where a story wants them. */
  cordon(name: string, cordoned: boolean): Promise<void>;
  journal(instance: InstanceView): Promise<readonly string[]>;
  namespaceOf(name: string): Promise<KubeObject | undefined>;
  /** Uids of the pods of an instance, by component. */
  pods(name: string): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Declares the shared document and waits until only its own instances are left. */
  restore(): Promise<void>;
}

export interface PoolChanges {
  readonly name: string;
  readonly instances: { readonly min: number; readonly max: number };
  readonly [field: string]: unknown;
}

const POD = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

export function openPools(world: World): PoolsWorld {
  const { rest, kube, signal } = world;
  const document = world.harness.fleetDocument as FleetDocument;
  const instances = () => rest.all<InstanceView>("/v1/instances");
  const declare: PoolsWorld["declare"] = (wanted, { prune } = { prune: false }) => declareFleet(world, wanted, { prune });
  return {
    document,
    instances,
    declare,
    withPool({ name, ...pool }, change = {}) {
      const own = { ...document.pools[0], class: { region: "local", tier: name, trust: "public" }, name, ...pool };
      return { ...document, ...change, pools: [own, ...document.pools] };
    },
    instance: (name, what, isReached) =>
      until(`${name} ${what}`, async () => (await instances()).find((one) => one.name === name), isReached),
    async cordon(name, cordoned) {
      await rest.put(`/v1/instances/${name}/cordon`, { cordoned, reason: "where the story wants it" });
    },
    async journal({ id }) {
      const { items } = await rest.get<{ readonly items: readonly { readonly verdict: string }[] }>("/v1/decisions", { subject: id });
      return items.map(({ verdict }) => verdict).toReversed();
    },
    namespaceOf: (name) => kube.get<KubeObject>(TYPES.namespace, { namespace: "", name: `argosy-${name}` }, signal),
    async pods(name) {
      const { items } = await kube.listPage<KubeObject>(POD, { namespace: `argosy-${name}` }, signal);
      const living = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const names = [...new Set(living.map(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] ?? ""))].sort();
      const uidsOf = (component: string) =>
        living
          .filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === component)
          .map(({ metadata }) => metadata.uid ?? "");
      return new Map(names.map((component) => [component, uidsOf(component).sort()]));
    },
    async restore() {
      await declare(document, { prune: true });
      const isAsBefore = (rows: readonly InstanceView[]): boolean => {
        const own = rows.filter(({ pool, state }) => pool === document.pools[0]?.["name"] && state === "ACTIVE");
        return rows.length === 2 && own.length === 2;
      };
      await until("the instances there were before", instances, isAsBefore, RESTORE_TIMEOUT_MS);
    },
  };
}
