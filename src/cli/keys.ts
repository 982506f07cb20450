import { type VaultKey, vaultKey } from "../config/schema.ts";
import type { Config } from "../config.ts";
import { InputError } from "../domain/errors.ts";
import type { CredentialId } from "../domain/ids.ts";
import { readKeyRing } from "../main/read-key-ring.ts";
import { systemClock } from "../runtime/clock.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import { createTransitKeyService } from "../store/adapters/vault/transit.ts";
import type { AuditStore } from "../store/audit/port.ts";
import type { CredentialStore, KeyRing, Rewrapping } from "../store/credential/port.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { recordCommand } from "./record-command.ts";

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
 * Wraps everything under the current key; with `dataKeys` it encrypts everything anew. Each credential is changed by one conditional statement of its own: stopping halfway loses
 * nothing, a second run goes on where the first ended, and several at once do no harm. `tell` hears how many are done of how many.
 */
export function rotateKeys(
  options: KeyOptions & { readonly dataKeys: boolean },
  tell: (done: number, of: number) => void,
): Promise<Rotation> {
  const { dataKeys } = options;
  return withCredentials(options, ({ credentials, ring, given, audit }) => {
    const details = { current: ring.current, dataKeys };
    const said = ({ rewrapped, unreadable }: Rotation) => ({ rewrapped, unreadable: unreadable.map(({ id }) => id) });
    return recordCommand({ audit, action: "rotateKeys", target: "credentials", details, said }, () =>
      rewrapAll({ credentials, ring, given, dataKeys }, tell),
    );
  });
}

async function rewrapAll(
  { credentials, ring, given, dataKeys }: Omit<Opened, "audit"> & { readonly dataKeys: boolean },
  tell: (done: number, of: number) => void,
): Promise<Rotation> {
  const before = await rowsOf(credentials, ring, given);
  const of = before.filter(({ isCurrent }) => dataKeys || !isCurrent).reduce((sum, row) => sum + row.credentials, 0);
  const unreadable: Rewrapping["unreadable"][number][] = [];
  let rewrapped = 0;
  let after: CredentialId | "" | undefined = "";
  while (after !== undefined) {
    const step: Rewrapping = await credentials.rewrap({ after, limit: STEP, dataKeys }, deadline());
    rewrapped += step.rewrapped;
    unreadable.push(...step.unreadable);
    after = step.next;
    if (of > 0) tell(rewrapped, of);
  }
  return { current: ring.current, rewrapped, unreadable, keys: await rowsOf(credentials, ring, given) };
}

/** A new key that the server at this place made and wrapped. */
export async function generateKey(place: Omit<VaultKey, "wrapped" | "kubernetes">): Promise<string> {
  const checked = vaultKey.safeParse({ ...place, wrapped: `vault:v1:${"A".repeat(64)}` });
  if (checked.success) return createTransitKeyService(checked.data).generate(deadline());
  const [issue] = checked.error.issues;
  throw new InputError("is none that a key can be asked of", {
    code: "cli.key-service",
    path: `--${String(issue?.path[0] ?? "address").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    remedy: "Give https://host:port as the address, http:// at a loopback address only, and names without spaces",
  });
}

const deadline = () => AbortSignal.timeout(60_000);

async function rowsOf(credentials: CredentialStore, ring: KeyRing, given: readonly string[]): Promise<readonly KeyRow[]> {
  const used = new Map((await credentials.countByKey(deadline())).map((use) => [use.keyId, use.credentials]));
  const names = [...new Set([...given, ...used.keys()])].sort();
  return names.map((key) => ({ key, isCurrent: key === ring.current, isGiven: given.includes(key), credentials: used.get(key) ?? 0 }));
}

interface Opened {
  readonly audit: AuditStore;
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
  const keyRing = await readKeyRing(config.encryption, env, deadline());
  const store = await createPostgresStore({ url: database, keyRing, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
  try {
    return await use({
      audit: store.audit,
      credentials: store.credentials,
      ring: keyRing,
      given: config.encryption.keys.map(({ id }) => id),
    });
  } finally {
    await store.close();
  }
}
