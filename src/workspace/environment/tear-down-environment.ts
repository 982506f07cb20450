import type { Environment } from "../../domain/environment.ts";
import type { ObservedResource } from "../../domain/user-resource.ts";
import type { EnvironmentEnd, EnvironmentStore } from "../../store/environment/port.ts";
import { parseKey } from "../keys.ts";
import type { UserKindResources } from "../port.ts";
import type { createVisitPace } from "./visit-pace.ts";

/** Environments that may have a row although their resource is gone. */
export interface Teardown {
  /** A resource of this key had this uid. */
  saw(key: string, uid: string): void;
  /** Ends every environment of this key but the present one's. Resolves to when to try again, in ms; `undefined`: all of them are gone. */
  settle(key: string, present: ObservedResource | undefined, signal: AbortSignal): Promise<number | undefined>;
}

export interface TeardownDeps {
  readonly environments: EnvironmentStore;
  readonly resources: Pick<UserKindResources, "readUid">;
  /** Whether the namespace goes, or is gone: deployments are deleted before what they are deployed through. */
  readonly isNamespaceGoing: (namespace: string) => boolean;
  /** Removes what an environment has on its cluster; `false`: not yet. */
  readonly removeAccount: (environment: Environment, signal: AbortSignal) => Promise<boolean>;
  /** A cluster that is away may be so for long. */
  readonly pace: Pick<ReturnType<typeof createVisitPace>, "next" | "forget">;
}

interface Ending {
  readonly key: string;
  readonly present: ObservedResource | undefined;
  readonly note: (uid: string, end: EnvironmentEnd) => void;
}

/** Creates the teardown of one controller. What it knows is lost on a restart, and found again by the sweep. */
export function createTeardown({ environments, resources, isNamespaceGoing, removeAccount, pace }: TeardownDeps): Teardown {
  const uids = new Map<string, Set<string>>();

  /** An end takes Applications off their instances, and a watch may be behind: only the API server is believed. */
  const isGone = async (key: string, uid: string, present: ObservedResource | undefined, signal: AbortSignal): Promise<boolean> =>
    present?.uid === uid ? present.isDeleting : (await resources.readUid(parseKey(key), signal)) !== uid;

  const recordEnd = (key: string, uid: string, signal: AbortSignal): Promise<EnvironmentEnd> =>
    environments.recordEnd(uid, isNamespaceGoing(parseKey(key).namespace) ? "after-deployments" : "at-once", signal);

  /** At most one visit: it may take its whole deadline. */
  const visit = async (key: string, uid: string, signal: AbortSignal): Promise<EnvironmentEnd> => {
    const environment = await environments.read(uid, signal);
    const isRemoved = environment === undefined || (await removeAccount(environment, signal));
    return isRemoved ? recordEnd(key, uid, signal) : "account-left";
  };

  /** Returns whose cluster is to be visited. */
  const endAll = async (known: readonly string[], ending: Ending, signal: AbortSignal): Promise<readonly string[]> => {
    const toVisit: string[] = [];
    for (const uid of known) {
      if (!(await isGone(ending.key, uid, ending.present, signal))) continue;
      const end = await recordEnd(ending.key, uid, signal);
      if (end === "account-left") toVisit.push(uid);
      else ending.note(uid, end);
    }
    return toVisit;
  };

  return {
    saw(key, uid) {
      uids.set(key, (uids.get(key) ?? new Set()).add(uid));
    },
    async settle(key, present, signal) {
      const known = uids.get(key) ?? new Set<string>();
      const delays: number[] = [];
      const note = (uid: string, end: EnvironmentEnd): void => {
        // What stands on an instance goes within moments, or not for long. Whoever has its name now is reconciled as often.
        if (end === "account-left" || end === "in-use") return void delays.push(pace.next(uid, "leaving"));
        known.delete(uid);
        pace.forget(uid);
      };
      const toVisit = await endAll([...known], { key, present, note }, signal);
      const [next] = toVisit;
      if (next !== undefined) {
        // Behind the others, whose turn is next.
        known.delete(next);
        known.add(next);
        note(next, await visit(key, next, signal));
        if (toVisit.length > 1 && delays.length === 0) delays.push(0);
      }
      if (known.size === 0) uids.delete(key);
      return delays.length === 0 ? undefined : Math.min(...delays);
    },
  };
}
