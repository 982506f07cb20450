import { randomBytes } from "node:crypto";
import { tokenHash } from "../../src/api/auth.ts";
import { createToken } from "../../src/cli/token.ts";
import type { ApiToken, TokenRole } from "../../src/store/token/port.ts";
import { withStore } from "./with-store.ts";

/** Tokens for the REST API. */
export interface FleetTokens {
  readonly operator: string;
  /** For operations that need an approver: large moves, and rollouts that ignore freezes. */
  readonly approver: string;
}

/** One token for each role: that of an earlier start if it is still valid, else a new one under an unused name. */
export async function keepTokens(databaseUrl: string, earlier: Partial<FleetTokens>, signal: AbortSignal): Promise<FleetTokens> {
  const tokens = await withStore(databaseUrl, (store) => store.tokens.readHashes(signal), signal);
  const keep = (role: TokenRole, token: string | undefined): Promise<string> =>
    token !== undefined && tokens.has(tokenHash(token))
      ? Promise.resolve(token)
      : createToken({ name: freeName(role, [...tokens.values()]), role, database: databaseUrl });
  return { operator: await keep("operator", earlier.operator), approver: await keep("approver", earlier.approver) };
}

function freeName(role: TokenRole, tokens: readonly ApiToken[]): string {
  const usual = `local-${role}`;
  return tokens.some(({ name }) => name === usual) ? `${usual}-${randomBytes(4).toString("hex")}` : usual;
}
