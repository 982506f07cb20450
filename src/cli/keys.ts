import type { Config } from "../config.ts";
import { InputError } from "../domain/errors.ts";
import type { CredentialId } from "../domain/ids.ts";
import { readKeyRing } from "../main/open-store.ts";
import { systemClock } from "../runtime/clock.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { CredentialStore, KeyRing, Rewrapping } from "../store/credential/port.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";

/** One key that is given or that wraps something. */
export interface KeyRow {
  readonly key: string;
  readonly isCurrent: boolean;
  /** Whether the configuration gives it. */
  readonly isGiven: boolean;
  readonly credentials: number;
}

export interface Rotation {
  readonly current: string;
  readonly rewrapped: number;
  readonly unreadable: Rewrapping["unreadable"];
  readonly keys: readonly KeyRow[];
}

export interface KeyOptions {
  readonly config: Pick<Config, "encryption">;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Connection string. */
  readonly database: string;
}

const STEP = 100;

/** The keys that are given and those that stored credentials are wrapped by, sorted by name, with how many each wraps. */
export function listKeys(options: KeyOptions): Promise<readonly KeyRow[]> {
  return withCredentials(options, ({ credentials, ring, given }) => rowsOf(credentials, ring, given));
}

/**
 * Wraps everything under the current key. Each credential is changed by one conditional statement of its own: stopping halfway loses
 * nothing, a second run goes on where the first ended, and several at once do no harm. `tell` hears how many are done of how many.
 */
export function rotateKeys(options: KeyOptions, tell: (done: number, of: number) => void): Promise<Rotation> {
  return withCredentials(options, async ({ credentials, ring, given }) => {
    const before = await rowsOf(credentials, ring, given);
    const of = before.filter(({ isCurrent }) => !isCurrent).reduce((sum, row) => sum + row.credentials, 0);
    const unreadable: Rewrapping["unreadable"][number][] = [];
    let rewrapped = 0;
    let after: CredentialId | "" | undefined = "";
    while (after !== undefined) {
      const step: Rewrapping = await credentials.rewrap({ after, limit: STEP }, deadline());
      rewrapped += step.rewrapped;
      unreadable.push(...step.unreadable);
      after = step.next;
      if (of > 0) tell(rewrapped, of);
    }
    return { current: ring.current, rewrapped, unreadable, keys: await rowsOf(credentials, ring, given) };
  });
}

const deadline = () => AbortSignal.timeout(60_000);

async function rowsOf(credentials: CredentialStore, ring: KeyRing, given: readonly string[]): Promise<readonly KeyRow[]> {
  const used = new Map((await credentials.countByKey(deadline())).map((use) => [use.keyId, use.credentials]));
  const names = [...new Set([...given, ...used.keys()])].sort();
  return names.map((key) => ({ key, isCurrent: key === ring.current, isGiven: given.includes(key), credentials: used.get(key) ?? 0 }));
}

interface Opened {
  readonly credentials: CredentialStore;
  readonly ring: KeyRing;
  /** Names of the keys of the configuration. */
  readonly given: readonly string[];
}

async function withCredentials<T>({ config, env, database }: KeyOptions, use: (opened: Opened) => Promise<T>): Promise<T> {
  if (config.encryption === undefined)
    throw new InputError("names no keys", {
      code: "cli.no-keys",
      path: "encryption.keys",
      remedy:
        "Give the configuration that the servers have; the key beside an embedded database can be named there as a file, with id local",
    });
  const keyRing = readKeyRing(config.encryption, env);
  const store = await createPostgresStore({ url: database, keyRing, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
  try {
    return await use({ credentials: store.credentials, ring: keyRing, given: config.encryption.keys.map(({ id }) => id) });
  } finally {
    await store.close();
  }
}
