import type { Happening, ObjectHappening } from "../history.ts";
import type { Checker } from "./checker.ts";
import { createRequests, deployerOf } from "./requests.ts";

/** How long after a deployment's deletion a late call may still create something of it, in ms: I9's six minutes, and the longest delay of a call. */
const LATE_MS = 7 * 60_000;
/** How long a sync may be held up, by an API server or in its own process, in ms. It prunes by what was wanted when it began. */
const HELD_UP_MS = 2 * 60_000;

interface Made {
  readonly by: string;
  /** In milliseconds since the world began. */
  readonly at: number;
}

interface WantedObject {
  readonly application: string;
  readonly name: string;
  readonly made: Made;
}

interface Deleted extends Made {
  readonly askedAt: number;
}

/**
 * I2: an object that its Application has wanted ever since it made it is not deleted. Three cases do not count.
 * - A deployment was made anew under its name while the one before was still ending: both Applications have the same objects, and the
 *   second one makes anew what the first one deletes. Such objects do not count while both Applications stand.
 * - An instance deletes what it made itself by a call that an API server had held up since before: Argo CD names no version of what it
 *   deletes, and makes it again.
 * - The object was put back a short time ago: a sync may still go on with what was wanted before.
 */
export function nothingWantedIsDeleted(): Checker {
  const requests = createRequests();
  const sharing = createSharing();
  /** Objects that stand and were wanted ever since they were made, with the Application that made them. */
  const wantedObjects = new Map<string, WantedObject>();
  const forgetUnwanted = (): void => {
    for (const [key, { application, name }] of wantedObjects) if (!requests.wants(application, name)) wantedObjects.delete(key);
  };
  const isLate = ({ application, name, made }: WantedObject, { at, by, askedAt }: Deleted): boolean =>
    (made.by === by && askedAt < made.at) || at - (requests.wantedAgainAt(application, name) ?? Number.NEGATIVE_INFINITY) < HELD_UP_MS;
  const judge = (at: number, application: string, { namespace, name, change, by, askedAt }: ObjectHappening): string | undefined => {
    const key = `${namespace}/${name}`;
    const isShared = sharing.isShared(key, application);
    if (change === "ADDED" && !isShared && requests.wants(application, name))
      wantedObjects.set(key, { application, name, made: { by, at } });
    // Another Application took it over, and decides about its end now.
    if (change === "MODIFIED" && wantedObjects.get(key)?.application !== application) wantedObjects.delete(key);
    const lost = change === "DELETED" ? wantedObjects.get(key) : undefined;
    if (lost === undefined) return undefined;
    wantedObjects.delete(key);
    if (isLate(lost, { at, by, askedAt })) return undefined;
    return `${by} deleted ${key}, which its user and Git have wanted since it was made`;
  };
  return {
    property: "I2",
    observe({ at, happening }) {
      requests.learn(happening, at);
      sharing.learn(happening);
      if (happening.kind === "user" || happening.kind === "push") forgetUnwanted();
      const deployed = deployerOf(happening);
      return deployed && judge(at, deployed.application, deployed.happening);
    },
  };
}

/** Which objects belong to several Applications that stand at the same time. */
function createSharing() {
  /** By name of an Application, the namespaces that have one: two while its unit is handed over. */
  const standing = new Map<string, Set<string>>();
  const makers = new Map<string, Set<string>>();
  return {
    learn(happening: Happening): void {
      if (happening.kind !== "object" || happening.resource !== "applications.argoproj.io") return;
      const places = standing.get(happening.name) ?? new Set();
      standing.set(happening.name, places);
      if (happening.change === "DELETED") places.delete(happening.namespace);
      else places.add(happening.namespace);
    },
    isShared(key: string, application: string): boolean {
      const known = makers.get(key) ?? new Set();
      makers.set(key, known.add(application));
      return [...known].some((each) => each !== application && (standing.get(each)?.size ?? 0) > 0);
    },
  };
}

/** I6: what a user deleted is not made again once late calls have had their time. */
export function nothingComesBack(): Checker {
  const requests = createRequests();
  return {
    property: "I6",
    observe({ at, happening }) {
      requests.learn(happening, at);
      const deployed = deployerOf(happening);
      if (deployed?.happening.change !== "ADDED") return undefined;
      const endedAt = requests.deletedAt(deployed.application);
      if (endedAt === undefined || at - endedAt < LATE_MS) return undefined;
      const { namespace, name, by } = deployed.happening;
      return `${by} made ${namespace}/${name} ${Math.round((at - endedAt) / 1_000)} s after its deployment was deleted`;
    },
  };
}
