import type { Millis } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import { abandonable } from "./signals.ts";

export interface Token {
  readonly value: string;
  /** Epoch ms; `undefined` if the token does not say. */
  readonly expiresAtMs: number | undefined;
}

export interface TokenSource {
  token(signal: AbortSignal): Promise<string>;
  refused(token: string): void;
}

/**
 * How long before its expiry a token is renewed, in ms: longer than any request may take plus a clock that is half a minute off.
 * Tokens that live less than five times that are renewed after four fifths of their life.
 */
const marginMs = 90_000;

/** How long a token without a known expiry is used before it is asked for again, in ms; client-go reads token files as often. */
const unknownLifeMs = 60_000;

interface Kept {
  readonly value: string;
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/**
 * Keeps what `read` gave and reads again when it is due. Everybody who asks meanwhile shares one reading. A reading that fails does no
 * harm as long as the token we have is not expired or refused. Failures are `UnavailableError`: credentials come back.
 */
export function createTokenSource(options: { readonly read: () => Promise<Token>; readonly now: () => Millis }): TokenSource {
  const { read, now } = options;
  let kept: Kept | undefined;
  let reading: Promise<string> | undefined;

  async function renew(): Promise<string> {
    try {
      kept = keep(await read(), now());
      return kept.value;
    } catch (cause) {
      if (kept !== undefined && now() < kept.expiresAtMs) return kept.value;
      throw new UnavailableError("Getting a token for the API server", { code: "kube.token-unavailable", cause });
    } finally {
      reading = undefined;
    }
  }

  return {
    async token(signal) {
      signal.throwIfAborted();
      if (kept !== undefined && now() < kept.renewAtMs) return kept.value;
      reading ??= renew();
      return abandonable(reading, signal);
    },
    refused(token) {
      if (kept?.value === token) kept = undefined;
    },
  };
}

function keep(token: Token, nowMs: number): Kept {
  const { value, expiresAtMs } = token;
  if (expiresAtMs === undefined) return { value, renewAtMs: nowMs + unknownLifeMs, expiresAtMs: Number.POSITIVE_INFINITY };
  const lifeMs = expiresAtMs - nowMs;
  return { value, renewAtMs: expiresAtMs - Math.min(marginMs, lifeMs / 5), expiresAtMs };
}

/** Expiry of a JSON Web Token (RFC 7519 §4.1.4) in epoch ms, `undefined` for any other kind of token. The signature is the server's business. */
export function expiryOfJwt(token: string): number | undefined {
  const payload = token.split(".")[1];
  if (payload === undefined) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as { readonly exp?: unknown } | null;
    return typeof claims?.exp === "number" ? claims.exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
