import type { Clock } from "../../domain/clock.ts";
import { sha256 } from "../../domain/hash.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { RepositoryAccess } from "../../domain/repository-access.ts";
import {
  REPOSITORY_PURPOSE,
  type RepositoryCredential,
  type RepositorySecret,
  readRepositorySecret,
} from "../../domain/repository-credential.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { CredentialStore } from "../../store/credential/port.ts";
import type { ConfirmedAccess, RepositoryAccessStore, WorkspaceRepositories } from "../../store/repository-access/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { resourceKey } from "../keys.ts";
import { parseRepositoryAddress } from "../repository-credential/repository-address.ts";
import type { RepositoryProbes } from "../repository-credential/try-repositories.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import {
  type AccessProbe,
  credentialFor,
  dueAt,
  dueFrom,
  isConfirming,
  isSettled,
  nextAccess,
  PROVE_AGAIN_MS,
  stampOf,
} from "./next-access.ts";

export interface AccessWorkDeps {
  readonly store: RepositoryAccessStore;
  readonly credentials: Pick<CredentialStore, "read">;
  readonly probes: Pick<RepositoryProbes, "ask" | "last" | "forget">;
  readonly policy: () => WorkspacePolicy;
  readonly apiCluster: string;
  readonly partition: Pick<Partition, "isMine">;
  /** Called when the work of `CONFIRMED` has something to record. It may wait for more. */
  readonly onConfirmed: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The key whose work records what probes have confirmed, of many workspaces together. No workspace has it as its id. */
export const CONFIRMED = "confirmed";
/** How many of them one statement records. */
const CONFIRMED_AT_ONCE = 500;

/** A probe whose end was not reported, as when a process lost its turn, is found by then. In ms. */
const ASKED_AGAIN_MS = 60_000;
const GIT = ".git";
/** Probes of workspaces' access stand beside those of credentials, and no credential can be called so. */
const PREFIX = "//";

export function isAccessProbe(key: string): boolean {
  return key.includes(`|${PREFIX}`);
}

/**
 * Returns the work of one workspace, and what takes in the end of a probe. It probes each repository that the workspace's applications name and that is
 * due, with the credential that an instance would take or with none, and records what the probes have shown. What is only confirmed, as nearly all of it is, every hour, costs one
 * reading of the workspace, and is recorded together with what was confirmed of others.
 */
export function createAccessWork(deps: AccessWorkDeps) {
  const { store, probes, clock } = deps;
  /** Probes that are under way, by their keys. */
  const asked = new Map<string, Asked>();
  /** What probes have confirmed, and is not recorded yet. */
  const confirmed = new Map<string, ConfirmedAccess>();

  async function work(id: string, signal: AbortSignal): Promise<WorkResult | void> {
    if (id === CONFIRMED) return recordConfirmed(signal);
    const found = await store.readRepositories(id as WorkspaceId, signal);
    if (found === undefined || found.apiCluster !== deps.apiCluster || !deps.partition.isMine(found.namespace)) return;
    let againInMs = PROVE_AGAIN_MS;
    const failures: unknown[] = [];
    for (const { url, access } of found.repositories) {
      try {
        againInMs = Math.min(againInMs, await prove({ found, url, access }, signal));
      } catch (error) {
        // One that cannot be recorded keeps none of the others waiting.
        signal.throwIfAborted();
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return { requeueAfterMs: againInMs };
  }

  /** Returns when this one has to be looked after again, in ms. */
  async function prove({ found, url, access }: Scene, signal: AbortSignal): Promise<number> {
    const credential = credentialFor(url, found.credentials);
    const stamp = stampOf(credential);
    const known = withConfirmed(found.workspaceId, { url, access });
    if (clock.now() < dueFrom(known, stamp)) return dueAt(known, stamp) - clock.now();
    const key = resourceKey(deps.apiCluster, { namespace: found.namespace, name: `${PREFIX}${sha256(url).slice(0, 32)}` });
    // Another probe each time: what one has shown is recorded once.
    const wantedStamp = `${stamp}|${access?.probedAt ?? ""}|${access?.state ?? ""}`;
    const { workspaceId } = found;
    const settled = isSettled(access, stamp) ? { workspaceId, url, credential: stamp } : undefined;
    // Before it is asked for: a probe may end at once.
    asked.set(key, { workspaceId, stamp: wantedStamp, settled });
    asked.set(`${key}${GIT}`, { workspaceId, stamp: wantedStamp, settled: undefined });
    const outcome = await outcomeOf({ key, url, credential, stamp: wantedStamp, isRepeated: isConfirming(access, stamp) }, signal);
    const after = (shown: AccessProbe["outcome"]) => nextAccess(access, { outcome: shown, credential: stamp, at: clock.now() });
    const dueInMs = (next: ReturnType<typeof nextAccess>) => Math.max(0, dueAt({ ...next, ordinal: 0 }, stamp) - clock.now());
    // Nobody waits for what is only confirmed. Where its end is missed, a sweep finds that it is due.
    if (outcome === undefined) return settled === undefined ? ASKED_AGAIN_MS : dueInMs(after("readable"));
    forget(key);
    const next = after(outcome);
    if (settled !== undefined && outcome === "readable") confirm(settled);
    else await store.record({ workspaceId, url, access: next }, signal);
    return dueInMs(next);
  }

  /**
   * What a probe of this stamp has shown; `undefined`: its end is reported. A probe follows nobody who sends it elsewhere, as an instance does. Some
   * hosts send everybody to the same address with `.git` at its end: there it is probed too.
   */
  async function outcomeOf(question: Question, signal: AbortSignal): Promise<AccessProbe["outcome"] | undefined> {
    const { key, url, stamp } = question;
    const shown = (at: string) => (probes.last(at)?.stamp === stamp ? probes.last(at)?.outcome : undefined);
    const first = shown(key) ?? (await ask(question, signal));
    if (first !== "moved" || url.endsWith(GIT)) return first;
    const second = shown(`${key}${GIT}`) ?? (await ask({ ...question, key: `${key}${GIT}`, url: `${url}${GIT}` }, signal));
    return second === "not-found" ? first : second;
  }

  /** Asks for a probe; `undefined`: its end is reported. What cannot be probed at all ends at once. */
  async function ask(
    { key, url, credential, stamp, isRepeated }: Question,
    signal: AbortSignal,
  ): Promise<AccessProbe["outcome"] | undefined> {
    const { egress } = deps.policy();
    const parsed = parseRepositoryAddress(url, egress);
    if (!parsed.ok) return "not-probed";
    const secret = credential === undefined ? undefined : await secretOf(credential, signal);
    if (secret === "unreadable") return "failed";
    probes.ask(key, { address: parsed.address, secret, stamp, isRepeated }, egress);
    return undefined;
  }

  async function secretOf(credential: RepositoryCredential, signal: AbortSignal): Promise<RepositorySecret | "unreadable"> {
    const key = { id: credential.credentialId, owner: credential.workspaceId, purpose: REPOSITORY_PURPOSE };
    try {
      const text = await deps.credentials.read(key, signal);
      return (text === undefined ? undefined : readRepositorySecret(text)) ?? "unreadable";
    } catch (error) {
      signal.throwIfAborted();
      deps.log.warn({ credential: credential.id, err: error }, "Probing no repository with a credential that cannot be read");
      return "unreadable";
    }
  }

  function forget(key: string): void {
    for (const each of [key, `${key}${GIT}`]) {
      probes.forget(each);
      asked.delete(each);
    }
  }

  function confirm(settled: Settled): void {
    confirmed.set(rowKey(settled), { ...settled, at: clock.now() });
    deps.onConfirmed();
  }

  /** As recorded, or as a probe has confirmed it since. */
  function withConfirmed(workspaceId: WorkspaceId, { url, access }: Pick<Scene, "url" | "access">): RepositoryAccess | undefined {
    const since = confirmed.get(rowKey({ workspaceId, url }));
    return access === undefined || since?.credential !== access.credential ? access : { ...access, probedAt: since.at };
  }

  async function recordConfirmed(signal: AbortSignal): Promise<WorkResult> {
    const some = [...confirmed.values()].slice(0, CONFIRMED_AT_ONCE);
    await store.confirm(some, signal);
    for (const one of some) if (confirmed.get(rowKey(one)) === one) confirmed.delete(rowKey(one));
    return confirmed.size > 0 ? { requeueAfterMs: 0 } : {};
  }

  /** Takes in that a probe has ended. Returns the workspace that has to be worked on for that; `undefined`: none. */
  function ended(key: string): WorkspaceId | undefined {
    const { workspaceId, settled, stamp } = asked.get(key) ?? {};
    const last = probes.last(key);
    if (settled === undefined || last?.stamp !== stamp || last?.outcome !== "readable") return workspaceId;
    forget(key);
    confirm(settled);
    return undefined;
  }

  return { work, ended };
}

const rowKey = ({ workspaceId, url }: Pick<ConfirmedAccess, "workspaceId" | "url">): string => `${workspaceId} ${url}`;

type Settled = Omit<ConfirmedAccess, "at">;

interface Asked {
  readonly workspaceId: WorkspaceId;
  readonly stamp: string;
  /** What it confirms if it can read; absent: what it shows changes more than the time. */
  readonly settled: Settled | undefined;
}

interface Scene {
  readonly found: WorkspaceRepositories;
  readonly url: string;
  readonly access: RepositoryAccess | undefined;
}

interface Question {
  readonly key: string;
  readonly url: string;
  readonly credential: RepositoryCredential | undefined;
  readonly stamp: string;
  /** Whether the answer is known and only confirmed. */
  readonly isRepeated: boolean;
}
