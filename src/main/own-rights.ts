import { findOwnMissing, readOwnAccount } from "../api/doctor/ask-rights.ts";
import { ownRightsText } from "../api/doctor/checks.ts";
import { apiClusterRights, engineClusterRights, type NeededRight } from "../api/doctor/rights.ts";
import type { Role } from "../domain/role.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { limitTime } from "../runtime/kube/time-limit.ts";
import { every } from "../runtime/timer/every.ts";
import type { MemberAccount, MemberStore } from "../store/member/port.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";

export interface OwnRightsDeps extends Pick<Context, "clock" | "rng" | "log" | "memberId" | "readiness"> {
  readonly members: Pick<MemberStore, "recordAccount">;
  readonly fleet: Pick<Store["fleet"], "readFleet">;
  readonly client: KubeClient;
  readonly roles: readonly Role[];
  /** Whether the API cluster is reached as the pod that this is: then it is the same one who acts in a cluster that hosts instances. */
  readonly isInApiCluster: boolean;
  /** Whether tokens of the API cluster's users are accepted. */
  readonly reviewsTokens: boolean;
}

/** How often to ask as whom this process acts, and for rights that were missing: an administrator is giving them. In ms. */
const EVERY_MS = 60_000;
/**
 * How often to ask for rights of which none was missing, in ms. It takes a request for each of them, more than all else that a process without instances does
 * at rest, and one that is taken away shows sooner by what fails without it.
 */
const ALL_THERE_MS = 600_000;
const SOON_MS = 1_000;
/** An API server that takes longer proves nothing. In ms. */
const ANSWER_MS = 5_000;

/**
 * Asks the API cluster as whom this process acts, keeps that for the doctor, and says in /readyz and once in the log which rights of its
 * roles are missing.
 *
 * A process that never had them all is not ready: what replaces a release stops there, with the pods of before still at work. One that had
 * them stays ready whatever it loses: some of its work still goes on, the API among it, which alone can say what is wrong; and nobody would
 * do the rest in its place, since others of its role act as the same account. While the API cluster does not answer the question nothing
 * is known, and nobody is kept from starting, as in ADR 0024.
 */
export function createOwnRights(deps: OwnRightsDeps) {
  const { clock, log, memberId, readiness, members, fleet, client, roles, isInApiCluster, reviewsTokens } = deps;
  const ending = new AbortController();
  let hadAll = false;
  let said = "";
  let detail = "not asked yet";
  let isRecorded = false;
  /** Which rights of whom were all there when last asked, and when that was. */
  let allThere: { readonly what: string; readonly atMs: number } | undefined;
  let running: Promise<void> | undefined;

  const neededRights = async (signal: AbortSignal): Promise<readonly NeededRight[]> => {
    const clusters = isInApiCluster ? ((await fleet.readFleet(signal))?.spec.engineClusters ?? []) : [];
    const hostsInstances = clusters.some(({ access }) => access.kind === "inCluster");
    return [...apiClusterRights(roles, { reviewsTokens }), ...(hostsInstances ? engineClusterRights(roles) : [])];
  };

  const note = (account: MemberAccount, missing: readonly NeededRight[]): void => {
    const now = missing.length === 0 ? "" : ownRightsText({ account, roles }, missing);
    if (now !== said && now !== "") log.error({ account: account.user, roles, missing: now }, "Rights are missing: what needs them fails");
    if (now === "" && said !== "") log.info({ account: account.user, roles }, "Rights that were missing are there");
    said = now;
    hadAll ||= now === "";
    detail = now === "" ? `all there, as ${account.user}` : now;
  };

  const ask = async (signal: AbortSignal): Promise<void> => {
    const limit = limitTime({ clock, doing: "asking for the rights of this process", timeoutMs: ANSWER_MS }, signal);
    try {
      const account = await readOwnAccount(client, limit.signal);
      // First, for the doctor blames somebody else for what an unknown account may not do.
      isRecorded = await members.recordAccount(memberId, account, limit.signal);
      // A fleet that was declared meanwhile may need more of this process.
      const needed = await neededRights(limit.signal);
      const what = JSON.stringify([account.user, needed]);
      if (allThere?.what === what && clock.monotonicMs() - allThere.atMs < ALL_THERE_MS) return;
      const missing = await findOwnMissing(client, needed, limit.signal);
      note(account, missing);
      allThere = missing.length === 0 ? { what, atMs: clock.monotonicMs() } : undefined;
    } catch (err) {
      if (!signal.aborted) log.debug({ err }, "Not knowing which rights this process has");
    } finally {
      limit.release();
    }
    // At the start the first sign of life may be under way, and a busy API server may not answer in time.
    if (!isRecorded && !signal.aborted) clock.after(SOON_MS, () => void askNow());
  };
  /** One at a time; whoever comes meanwhile waits for the same answer. */
  function askNow(): Promise<void> {
    if (ending.signal.aborted) return Promise.resolve();
    running ??= ask(ending.signal).finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    /** Resolves once it was asked for the first time, or that took too long. */
    async start(signal: AbortSignal): Promise<void> {
      signal.addEventListener("abort", () => ending.abort(new Error("the process stops")), { once: true });
      readiness.register({ name: "permissions", check: () => ({ ok: hadAll || said === "", detail }) });
      every({ ...deps, ms: EVERY_MS, run: () => void askNow() }, ending.signal);
      await askNow();
    },
    /** Asks now, also for what was all there. */
    ask(): Promise<void> {
      allThere = undefined;
      return askNow();
    },
    async stop(): Promise<void> {
      ending.abort(new Error("the process stops"));
      await running;
    },
  };
}
