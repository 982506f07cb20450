import { isRenewalDue, type TokenLife } from "../domain/account-token.ts";
import type { Millis } from "../domain/clock.ts";
import { contentHash as hashOf } from "../domain/hash.ts";
import { asObject, asString, asTime } from "../domain/json.ts";
import {
  ANNOTATION_HASH,
  ANNOTATION_TOKEN_ACCOUNT,
  ANNOTATION_TOKEN_ENDS,
  ANNOTATION_TOKEN_HASH,
  ANNOTATION_TOKEN_MADE,
  LABEL_ENVIRONMENT,
} from "../domain/names.ts";
import type { ObservedObject } from "./managed-object.ts";
import { ANNOTATION_REFRESH } from "./names.ts";
import { parseObject } from "./parse-object.ts";
import type { EntryToken } from "./render-instance.ts";

/**
 * A cluster entry. The time by which Argo CD is to have read the cluster anew is kept of it, and of one for the API cluster its token, so that the
 * entry can be compared with what it should be.
 */
export interface ObservedEntry extends ObservedObject {
  readonly token: string | undefined;
}

export function parseEntry(raw: unknown): ObservedEntry | undefined {
  const object = parseObject("entry", raw);
  if (object === undefined) return undefined;
  const refreshAt = asObject(asObject(asObject(raw)["metadata"])["annotations"])[ANNOTATION_REFRESH];
  const annotations = { ...object.annotations, ...(typeof refreshAt === "string" ? { [ANNOTATION_REFRESH]: refreshAt } : {}) };
  const isOfEnvironment = object.labels[LABEL_ENVIRONMENT] !== undefined;
  const token = isOfEnvironment ? undefined : bearerOf(asString(asObject(asObject(raw)["data"])["config"]));
  return { ...object, annotations, token };
}

function bearerOf(config: string): string | undefined {
  try {
    const token = asString(asObject(JSON.parse(Buffer.from(config, "base64").toString("utf8")))["bearerToken"]);
    return token === "" ? undefined : token;
  } catch {
    return undefined;
  }
}

/** What is to be done about the token of an instance's entry for the API cluster. */
export type TokenStep =
  /** It stays. */
  | { readonly kind: "keep"; readonly token: EntryToken }
  /** Another one is to be written. `goodUntil`: until then the present one works; absent: it does not, or there is none. */
  | { readonly kind: "renew"; readonly why: "missing" | "changed" | "other-account" | "endless" | "due"; readonly goodUntil?: Millis };

/** When nothing says that a token ends. */
const NEVER = Number.MAX_SAFE_INTEGER as Millis;

/**
 * Decides by what stands: whoever takes over comes to the same. A token of a version that asked for none with an end works until its Secret
 * is removed (`endless`). One that somebody changed is replaced even if it says that it is good.
 */
export function nextTokenStep(
  observed: ObservedEntry | undefined,
  {
    account,
    accountUid,
    now,
    life,
  }: { readonly account: string; readonly accountUid: string; readonly now: Millis; readonly life: TokenLife },
): TokenStep {
  if (observed?.token === undefined) return { kind: "renew", why: "missing" };
  const { annotations, contentHash, token } = observed;
  if (annotations[ANNOTATION_HASH] !== contentHash) return { kind: "renew", why: "changed" };
  // Annotations of another token say nothing of this one, which a program of before wrote after a rollback.
  if (annotations[ANNOTATION_TOKEN_HASH] !== hashOf(token)) return { kind: "renew", why: "endless", goodUntil: NEVER };
  const [madeAt, endsAt] = [asTime(annotations[ANNOTATION_TOKEN_MADE]), asTime(annotations[ANNOTATION_TOKEN_ENDS])];
  if (madeAt === undefined || endsAt === undefined || endsAt <= madeAt) return { kind: "renew", why: "endless", goodUntil: NEVER };
  if (annotations[ANNOTATION_TOKEN_ACCOUNT] !== accountUid) return { kind: "renew", why: "other-account" };
  const span = { madeAt, endsAt };
  if (!isRenewalDue(span, account, { now, life })) return { kind: "keep", token: { token, accountUid, ...span } };
  return { kind: "renew", why: "due", ...(endsAt > now ? { goodUntil: endsAt } : {}) };
}
