import { type Millis, millis } from "../../../domain/clock.ts";
import type { TokenRecord, TokenStore, ValidToken } from "../../token/port.ts";
import type { TokenRow, Transact } from "./tables.ts";

const DAY_MS = 24 * 3_600_000;
const [FORGOTTEN_AFTER_MS, USE_EVERY_MS] = [30 * DAY_MS, 60_000];

export function createMemoryTokenStore(transact: Transact): TokenStore {
  return {
    put: ({ name, role, scope, hash, owner, createdBy, lifetimeMs }, decision, signal) =>
      transact(signal, ({ tables, now }) => {
        const forgotten = now() - FORGOTTEN_AFTER_MS;
        for (const row of [...tables.tokens.values()].filter((each) => endOf(each) < forgotten)) tables.tokens.delete(row.name);
        const expiresAt = lifetimeMs === undefined ? undefined : millis(now() + lifetimeMs);
        const unused = { lastUsedAt: undefined, revokedAt: undefined };
        const limits = scope === undefined ? {} : { scope };
        const row: TokenRow = { name, role, ...limits, hash, owner, createdBy, createdAt: now(), expiresAt, ...unused };
        tables.tokens.set(name, row);
        if (decision !== undefined) tables.decisions.push(decision);
        return recordOf(row, now());
      }),
    readHashes: (signal) =>
      transact(signal, ({ tables, now }) => {
        const valid = [...tables.tokens.values()].filter((row) => stateOf(row, now()) === "active");
        return new Map(
          valid.map(({ hash, name, role, scope, expiresAt }): [string, ValidToken] => [
            hash,
            { name, role, ...(scope && { scope }), endsInMs: expiresAt === undefined ? undefined : expiresAt - now() },
          ]),
        );
      }),
    list: (signal) =>
      transact(signal, ({ tables, now }) =>
        [...tables.tokens.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map((row) => recordOf(row, now())),
      ),
    revoke: (name, decision, signal) =>
      transact(signal, ({ tables, now }) => {
        const row = tables.tokens.get(name);
        if (row === undefined || row.revokedAt !== undefined) return false;
        tables.tokens.set(name, { ...row, revokedAt: now(), hash: `revoked:${name}` });
        tables.decisions.push(decision);
        return true;
      }),
    recordUse: (hashes, signal) =>
      transact(signal, ({ tables, now }) => {
        for (const row of tables.tokens.values())
          if (hashes.includes(row.hash) && (row.lastUsedAt ?? Number.NEGATIVE_INFINITY) <= now() - USE_EVERY_MS)
            tables.tokens.set(row.name, { ...row, lastUsedAt: now() });
      }),
    remove: (name, signal) => transact(signal, ({ tables }) => void tables.tokens.delete(name)),
  };
}

function endOf({ revokedAt = millis(Infinity), expiresAt = millis(Infinity) }: TokenRow): number {
  return Math.min(revokedAt, expiresAt);
}

function stateOf({ revokedAt, expiresAt }: TokenRow, now: Millis): TokenRecord["state"] {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "active";
}

function recordOf(row: TokenRow, now: Millis): TokenRecord {
  const { hash: _hash, ...known } = row;
  return { ...known, state: stateOf(row, now) };
}
