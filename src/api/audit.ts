import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type AuditEntry, type AuditOutcome, UNAUTHENTICATED } from "../domain/audit.ts";
import type { Clock } from "../domain/clock.ts";
import { asObject, type Json } from "../domain/json.ts";
import type { AuditStore } from "../store/audit/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { redact } from "../telemetry/redact.ts";

export interface AuditDeps {
  readonly audit: AuditStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Refusals of one caller are counted for so long before they are one more record, in ms. */
const COUNTED_MS = 5 * 60_000;
/** Callers and routes that are counted apart; whatever comes beyond is counted as one. */
const COUNTED_APART = 100;
/** A database that takes longer is tried again with the next record, in ms. */
const TIMEOUT_MS = 10_000;
/** What is left when the API closes is given up after so long, in ms. */
const CLOSING_MS = 2_000;
/** An answer waits no longer for its record, in ms: what was asked for has one already. */
const ANSWER_TIMEOUT_MS = 5_000;
/** Requests that change nothing. Of these only refusals are recorded. */
const READS: readonly string[] = ["GET", "HEAD", "OPTIONS"];
/** Whose body is recorded with what it changed, in the transaction that changes it. The text itself may hold anything. */
const DECLARES = "applyFleet";

/**
 * Records who asks for what: each request that is no read with a record before its handler runs and another with the outcome before its
 * answer is sent, and each refusal (401, 403). Nothing is changed where the first of the two cannot be written: such a request fails (503).
 * A process that dies between the two leaves the first without answer, which `argosy audit verify` names. Refusals are counted in memory and
 * written later: they wait for nothing.
 */
export function recordRequests(app: FastifyInstance, deps: AuditDeps): void {
  const { audit, log, metrics } = deps;
  const refusals = createRefusals(deps);
  const lost = metrics.counter("argosy_api_audit_failures_total", "Audit records of answers and refusals that could not be written.", []);

  app.decorateRequest("audited", 0);
  app.addHook("preHandler", async (request) => {
    if (READS.includes(request.method) || request.actor === "") return;
    request.audited = await audit.append(
      { ...factsOf(request), outcome: "asked", details: argumentsOf(request) },
      AbortSignal.timeout(TIMEOUT_MS),
    );
  });
  app.addHook("onSend", async (request, reply, payload) => {
    if (request.audited === 0) {
      // With the route's own path: what is counted apart is nothing that a stranger chooses.
      if (isRefusal(request, reply))
        refusals.count({ ...factsOf(request), target: request.routeOptions.url ?? "", outcome: "refused", code: codeOf(reply, payload) });
      return;
    }
    const [answers, code] = [request.audited, codeOf(reply, payload)];
    // One answer each, also where sending it fails and another one is sent.
    request.audited = 0;
    await audit
      .append({ ...factsOf(request), outcome: outcomeOf(reply), code, answers }, AbortSignal.timeout(ANSWER_TIMEOUT_MS))
      .catch((error: unknown) => {
        lost.add(1);
        log.error({ error, answers }, "Recording the outcome of a request failed: the audit trail has what was asked for, without answer");
      });
  });
  app.addHook("onClose", () => refusals.close());
}

/** Refusals, and of requests that would have changed something whatever was wrong with them before they reached their handler. */
function isRefusal({ method, routeOptions }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  if (routeOptions.url === undefined) return false;
  return statusCode === 401 || statusCode === 403 || (statusCode >= 400 && statusCode < 500 && !READS.includes(method));
}

function outcomeOf({ statusCode }: FastifyReply): AuditOutcome {
  if (statusCode < 400) return "ok";
  return statusCode < 500 ? "refused" : "failed";
}

type Facts = Omit<AuditEntry, "outcome">;

function factsOf(request: FastifyRequest): Facts {
  const { actor, role, ip, method, routeOptions } = request;
  const isKnown = actor !== "";
  const { operationId } = (routeOptions.schema ?? {}) as { readonly operationId?: string };
  return {
    ...{ actor: isKnown ? actor : UNAUTHENTICATED, via: "rest", role: isKnown ? role : undefined, remote: ip },
    ...{ action: operationId ?? method, target: targetOf(routeOptions.url ?? "", asObject(request.params)) },
    ...{ code: "", count: 1, answers: undefined, details: {} },
  };
}

/** The path of a route with what it is about: `/v1/workspaces/shop/pin`. */
function targetOf(url: string, params: Json): string {
  return url.replace(/:(\w+)/g, (name, key: string) => (typeof params[key] === "string" ? encodeURIComponent(params[key]) : name));
}

/** What was asked for, as the route's schema let it in, without anything that has the form of a secret. */
function argumentsOf({ query, body, routeOptions }: FastifyRequest): Json {
  const { operationId } = (routeOptions.schema ?? {}) as { readonly operationId?: string };
  const isIn = (value: unknown): boolean => value !== undefined && value !== null && Object.keys(value).length > 0;
  const said = { ...(isIn(query) ? { query } : {}), ...(isIn(body) && operationId !== DECLARES ? { body } : {}) };
  return asObject(redact(said));
}

/** The code of an error's answer, as its body has it. */
function codeOf({ statusCode }: FastifyReply, payload: unknown): string {
  if (statusCode < 400 || typeof payload !== "string") return "";
  try {
    const { code } = asObject(JSON.parse(payload));
    return typeof code === "string" ? code : "";
  } catch {
    return "";
  }
}

export interface Refusals {
  /** Takes no time. */
  count(refusal: AuditEntry): void;
  /** Writes what has been counted. */
  close(): Promise<void>;
}

interface Counted {
  readonly refusal: AuditEntry;
  /** Not written yet. */
  count: number;
  /** Whether that is to be written now, and not at the end of the interval. */
  isDue: boolean;
}

/**
 * Writes the first refusal of a caller at once, and those that follow within five minutes as one record with their number. However many
 * callers there are, a hundred are told apart; the others are one. What cannot be written is kept and tried again.
 */
export function createRefusals({ audit, clock, log, metrics }: AuditDeps): Refusals {
  const seen = new Map<string, Counted>();
  const counted = metrics.counter(
    "argosy_api_refusals_total",
    "Requests refused for their token or its role, and changes that were refused.",
    [],
  );
  let [isWriting, isWanted] = [false, false];
  let cancel: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();

  const writeAll = async (timeoutMs: number): Promise<void> => {
    for (const each of [...seen.values()].filter(({ count, isDue }) => isDue && count > 0)) {
      const { count } = each;
      Object.assign(each, { count: 0, isDue: false });
      await audit.append({ ...each.refusal, count }, AbortSignal.timeout(timeoutMs)).catch((error: unknown) => {
        Object.assign(each, { count: each.count + count, isDue: true });
        throw error;
      });
    }
  };
  const write = (timeoutMs = TIMEOUT_MS): Promise<void> => {
    isWanted = true;
    if (isWriting) return writing;
    isWriting = true;
    writing = (async () => {
      while (isWanted) {
        isWanted = false;
        await writeAll(timeoutMs).catch((error: unknown) =>
          log.warn({ error }, "Recording refused requests failed; they are counted, and recorded later"),
        );
      }
      isWriting = false;
    })();
    return writing;
  };
  const makeDue = (): void => {
    for (const each of seen.values()) each.isDue = true;
  };
  /** Ends an interval: who was refused in it has another one, and who was not is forgotten. */
  const turn = (): void => {
    for (const [key, { count }] of seen) if (count === 0) seen.delete(key);
    cancel = undefined;
    if (seen.size === 0) return;
    makeDue();
    void write();
    cancel = clock.after(COUNTED_MS, turn);
  };

  return {
    count(refusal) {
      counted.add(1);
      cancel ??= clock.after(COUNTED_MS, turn);
      const own = JSON.stringify([refusal.actor, refusal.remote, refusal.action, refusal.target, refusal.code]);
      const isApart = seen.has(own) || seen.size < COUNTED_APART;
      const key = isApart ? own : "others";
      const known = seen.get(key);
      if (known !== undefined) {
        known.count += 1;
        return;
      }
      seen.set(key, { refusal: isApart ? refusal : { ...refusal, ...OTHERS }, count: 1, isDue: true });
      void write();
    },
    async close() {
      cancel?.();
      makeDue();
      const limit = AbortSignal.timeout(CLOSING_MS);
      const isOver = new Promise<void>((resolve) => limit.addEventListener("abort", () => resolve(), { once: true }));
      await Promise.race([write(CLOSING_MS), isOver]);
    },
  };
}

/** Whoever comes when a hundred callers have been refused within the same minutes. */
const OTHERS = {
  actor: UNAUTHENTICATED,
  role: undefined,
  remote: undefined,
  action: "several",
  target: "several",
  code: "several",
} as const;

declare module "fastify" {
  interface FastifyRequest {
    /** Number of the audit record of what was asked for; 0: there is none, or it has its answer. */
    audited: number;
  }
}
