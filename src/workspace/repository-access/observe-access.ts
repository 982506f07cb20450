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
import type { RepositoryAccessStore, WorkspaceRepositories } from "../../store/repository-access/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { resourceKey } from "../keys.ts";
import { parseRepositoryAddress } from "../repository-credential/repository-address.ts";
import type { RepositoryProbes } from "../repository-credential/try-repositories.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import { type AccessProbe, credentialFor, dueAt, isConfirming, nextAccess, PROVE_AGAIN_MS, stampOf } from "./next-access.ts";

export interface AccessWorkDeps {
  readonly store: RepositoryAccessStore;
  readonly credentials: Pick<CredentialStore, "read">;
  readonly probes: Pick<RepositoryProbes, "ask" | "last" | "forget">;
  readonly policy: () => WorkspacePolicy;
  readonly apiCluster: string;
  readonly partition: Pick<Partition, "isMine">;
  readonly clock: Clock;
  readonly log: Log;
}

/** A probe whose end was not reported, as when a process lost its turn, is found by then. In ms. */
const ASKED_AGAIN_MS = 60_000;
const GIT = ".git";
/** Probes of workspaces' access stand beside those of credentials, and no credential can be called so. */
const PREFIX = "//";

export function isAccessProbe(key: string): boolean {
  return key.includes(`|${PREFIX}`);
}

/**
 * Returns the work of one workspace, and what tells whose a probe was. It probes each repository that the workspace's applications name and that is
 * due, with the credential that an instance would take or with none, and records what the probes have shown.
 */
export function createAccessWork(deps: AccessWorkDeps) {
  const { store, probes, clock } = deps;
  const workspaceOf = new Map<string, WorkspaceId>();

  async function work(id: string, signal: AbortSignal): Promise<WorkResult | void> {
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
    const dueInMs = dueAt(access, stamp) - clock.now();
    if (dueInMs > 0) return dueInMs;
    const key = resourceKey(deps.apiCluster, { namespace: found.namespace, name: `${PREFIX}${sha256(url).slice(0, 32)}` });
    // Another probe each time: what one has shown is recorded once.
    const wantedStamp = `${stamp}|${access?.probedAt ?? ""}|${access?.state ?? ""}`;
    // Before it is asked for: a probe may end at once.
    for (const each of [key, `${key}${GIT}`]) workspaceOf.set(each, found.workspaceId);
    const outcome = await outcomeOf({ key, url, credential, stamp: wantedStamp, isRepeated: isConfirming(access, stamp) }, signal);
    if (outcome === undefined) return ASKED_AGAIN_MS;
    for (const each of [key, `${key}${GIT}`]) {
      probes.forget(each);
      workspaceOf.delete(each);
    }
    const probe: AccessProbe = { outcome, credential: stamp, at: clock.now() };
    const next = nextAccess(access, probe);
    await store.record({ workspaceId: found.workspaceId, url, access: next }, signal);
    return Math.max(0, dueAt({ ...next, ordinal: 0 }, stamp) - clock.now());
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

  return { work, workspaceOf: (key: string): WorkspaceId | undefined => workspaceOf.get(key) };
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
