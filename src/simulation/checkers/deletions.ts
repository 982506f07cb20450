import type { Happening, ObjectHappening } from "../history.ts";
import type { Checker } from "./checker.ts";
import { createRequests, deployerOf } from "./requests.ts";

/** What a late creation may outlive its deletion by, in ms: I9's six minutes, and what a delayed call adds. */
const LATE_MS = 7 * 60_000;
/** What Argo CD prunes it has decided on before: a sync that an API server, or its own process, held up goes on with what was wanted then. In ms. */
const HELD_UP_MS = 2 * 60_000;

interface Made {
  readonly by: string;
  /** In milliseconds since the world began. */
  readonly at: number;
}

interface Cherished {
  readonly application: string;
  readonly name: string;
  readonly made: Made;
}

interface Deleted extends Made {
  readonly askedAt: number;
}

/**
 * I2: an object that was wanted at every moment of its life, from the Application that made it, is not deleted. Where a deployment was
 * made anew under its name while the one before was still ending, both Applications have the same objects, and what the first one
 * deletes is made anew by the second: such objects do not count while both stand. Nor does what an instance deletes of its own making by
 * a call that an API server had kept from before: Argo CD names no version of what it deletes, and makes it again; nor what was put back
 * a short time ago, for a sync may still go on with what was wanted before that.
 */
export function nothingWantedIsDeleted(): Checker {
  const requests = createRequests();
  const sharing = createSharing();
  /** Objects that stand and were wanted ever since they were made, with the Application that made them. */
  const cherished = new Map<string, Cherished>();
  const forgetUnwanted = (): void => {
    for (const [key, { application, name }] of cherished) if (!requests.wants(application, name)) cherished.delete(key);
  };
  const isLate = ({ application, name, made }: Cherished, { at, by, askedAt }: Deleted): boolean =>
    (made.by === by && askedAt < made.at) || at - (requests.wantedAgainAt(application, name) ?? Number.NEGATIVE_INFINITY) < HELD_UP_MS;
  const judge = (at: number, application: string, { namespace, name, change, by, askedAt }: ObjectHappening): string | undefined => {
    const key = `${namespace}/${name}`;
    const isShared = sharing.isShared(key, application);
    if (change === "ADDED" && !isShared && requests.wants(application, name)) cherished.set(key, { application, name, made: { by, at } });
    // Taken over by another Application: its end is that one's matter now.
    if (change === "MODIFIED" && cherished.get(key)?.application !== application) cherished.delete(key);
    const lost = change === "DELETED" ? cherished.get(key) : undefined;
    if (lost === undefined) return undefined;
    cherished.delete(key);
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

/** Which Applications had an object of one name, and stand at once. */
function createSharing() {
  /** Instances that have one of its name: two of them while its unit is handed over. */
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

/** I6: what a user deleted is not made again once the time is over in which a late answer may do harm. */
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
