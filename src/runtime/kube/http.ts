import { setImmediate } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { errors, type Pool } from "undici";
import type { Clock } from "../../domain/clock.ts";
import { DefectError, UnavailableError } from "../../domain/errors.ts";
import type { Rng } from "../../domain/rng.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { describeSpan, traced } from "../../telemetry/tracing.ts";
import { sleep } from "../clock.ts";
import { longestErrorBody, readBeginning, readLines, readResult } from "./answer-body.ts";
import type { KubeCredentials } from "./auth.ts";
import type { KubeClient, KubeRequest } from "./client.ts";
import { createConnections } from "./connections.ts";
import type { Exchange } from "./exchange.ts";
import { httpExchangeOf, watchExchange } from "./exchange.ts";
import { createReachability, type Reachability } from "./reachability.ts";
import type { RequestMeter } from "./request-meter.ts";
import { createRequestMeter } from "./request-meter.ts";
import { pluralOf } from "./resource.ts";
import { nextRetryMs } from "./retry.ts";
import { abandonable } from "./signals.ts";
import { errorForAnswer } from "./status.ts";
import type { TimeLimit } from "./time-limit.ts";
import { limitTime } from "./time-limit.ts";
import { createTokenBucket } from "./token-bucket.ts";
import { createVerbs } from "./verbs.ts";

export interface KubeClientOptions {
  /** Name of the cluster in logs, metrics and object keys. */
  readonly cluster: string;
  readonly credentials: KubeCredentials;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly metrics: Metrics;
  /** Connections for writes, and as many for reads of single objects; default 24. More than 32 bring nothing; fewer than 16 leave a fast server idle. */
  readonly writeConnections?: number;
  /** Average rate of writes, with one second's worth at once; unlimited if undefined. */
  readonly writesPerSecond?: number;
  /** Longest body of a successful answer that is read, in bytes; for servers of strangers, which might never end one; unless the request says otherwise. */
  readonly longestBody?: number;
}

/** For one attempt of one request, in ms, unless the request says otherwise. API servers give up after a minute themselves. */
const defaultTimeoutMs = 30_000;

/**
 * Speaks to one API server over HTTP/1.1: a pool of kept-alive connections for each purpose of requests, one unbounded pool for watches, which hold
 * their connection for minutes, and connections of their own for requests that ask for one. HTTP/2 is not used: it is no faster here and pins everything to one server behind a load balancer.
 *
 * Idempotent requests are sent up to four times after failures that pass, with jittered back-off and the server's Retry-After; a 401 makes
 * the token be renewed and the request be sent once more, whatever it is, because a server that does not know us has done nothing.
 * While the server is away one request at a time finds out whether it is back, and others are turned away (`kube.away`).
 * Aborting rejects at once with the signal's reason. An answer asked for with an `accept` other than JSON comes back as text.
 */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { cluster, credentials, clock, rng, metrics } = options;
  const server = new URL(credentials.server);
  const prefix = server.pathname.replace(/\/+$/, "");
  const { pools, fresh, watches, close } = createConnections(credentials, options.writeConnections ?? 24);
  const bucket = options.writesPerSecond === undefined ? undefined : createTokenBucket(options.writesPerSecond, clock);
  const meter = createRequestMeter(metrics, { cluster, clock });
  const reachability = createReachability({ cluster, clock });
  const transport = { credentials, prefix, clock, cluster, meter, reachability };

  async function attempt<T>(exchange: Exchange & { readonly request: KubeRequest }, signal: AbortSignal): Promise<T> {
    if (exchange.method !== "GET") await bucket?.take(signal);
    const { method, path } = exchange;
    const attributes = { "http.request.method": method, "url.path": path, "k8s.cluster.name": cluster };
    return traced({ name: `${method} ${pluralOf(path)}`, kind: "client", attributes }, () =>
      sendOnce<T>({ ...transport, pool: exchange.isFresh ? fresh : pools[exchange.purpose] }, exchange, signal),
    );
  }

  async function request<T>(request: KubeRequest, signal: AbortSignal): Promise<T> {
    const idempotent = request.idempotent ?? request.method === "GET";
    const exchange = { ...httpExchangeOf(request), request: bounded(request, options) };
    for (let sent = 0; ; sent++) {
      try {
        return await attempt<T>(exchange, signal);
      } catch (error) {
        const delayMs = idempotent ? nextRetryMs(error, sent, rng.next()) : undefined;
        if (delayMs === undefined) throw error;
        await sleep(clock, delayMs, signal);
      }
    }
  }

  return {
    cluster,
    server: credentials.server,
    request,
    ...createVerbs(request),
    watchLines: (path, query, signal) => readWatch({ ...transport, pool: watches }, watchExchange(path, query), signal),
    close,
  };
}

function bounded(request: KubeRequest, { longestBody }: Pick<KubeClientOptions, "longestBody">): KubeRequest {
  return longestBody === undefined ? request : { longestBody, ...request };
}

interface Transport {
  readonly pool: Pool;
  readonly credentials: KubeCredentials;
  readonly prefix: string;
  readonly clock: Clock;
  readonly cluster: string;
  readonly meter: RequestMeter;
  readonly reachability: Reachability;
}

/** One attempt: with its own timeout, and a second sending if our token was out of date. */
async function sendOnce<T>(transport: Transport, exchange: Exchange & { readonly request: KubeRequest }, signal: AbortSignal): Promise<T> {
  const { request } = exchange;
  const doing = `Sending ${exchange.method} ${exchange.path}`;
  const visit = transport.reachability.enter(signal);
  const limit = limitTime({ clock: transport.clock, doing, timeoutMs: request.timeoutMs ?? defaultTimeoutMs }, visit.signal);
  const stop = transport.meter.start(exchange.method, exchange.path);
  try {
    const answer = await open(transport, exchange, limit.signal);
    visit.answered();
    stop(String(answer.statusCode));
    describeSpan({ "http.response.status_code": answer.statusCode });
    const isSuccess = answer.statusCode >= 200 && answer.statusCode <= 299;
    const result = isSuccess ? await readResult(answer.body, request) : await failure(transport, { doing, answer }, exchange);
    // undici gives a connection back one turn of the event loop after the answer's end. Who sends the next request sooner than
    // that opens another connection for it.
    await setImmediate();
    if (!isSuccess) throw result;
    return result as T;
  } catch (error) {
    const translated = translate(error, { doing, limit, transport, exchange });
    if (isAbsence(translated)) visit.failed();
    stop(signal.aborted ? "aborted" : limit.signal.aborted ? "timeout" : "broken");
    throw translated;
  } finally {
    visit.left();
    limit.release();
  }
}

/** Sends and waits for the head of the answer; a 401 renews the token and sends again, once. */
async function open(transport: Transport, exchange: Exchange, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const token = await transport.credentials.token(signal);
  const answer = await dispatch(transport, { exchange, token }, signal);
  if (answer.statusCode !== 401 || token === undefined || transport.credentials.refused === undefined) return answer;
  transport.credentials.refused(token);
  const renewed = await transport.credentials.token(signal);
  if (renewed === token) return answer;
  await answer.body.dump({ limit: longestErrorBody, signal });
  return dispatch(transport, { exchange, token: renewed }, signal);
}

function dispatch(
  transport: Transport,
  send: { readonly exchange: Exchange; readonly token: string | undefined },
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const { exchange, token } = send;
  const sent = transport.pool.request({
    method: exchange.method as Dispatcher.HttpMethod,
    path: transport.prefix + exchange.path + exchange.search,
    headers: token === undefined ? { ...exchange.headers } : { ...exchange.headers, authorization: `Bearer ${token}` },
    body: exchange.body ?? null,
    signal,
    // A deletion has a body, its preconditions; undici would close the connection after it, in case the server took none.
    reset: exchange.isFresh,
  });
  // The pool itself hears of a signal only once it has connected, or given up to.
  return abandonable(sent, signal);
}

async function* readWatch(transport: Transport, exchange: Exchange, signal: AbortSignal): AsyncGenerator<string> {
  // A page of metrics, which the API server hands on from a pod, is read line by line too.
  const isWatch = new URLSearchParams(exchange.search).get("watch") === "true";
  const doing = `${isWatch ? "Watching" : "Reading"} ${exchange.path}`;
  const stop = transport.meter.start(isWatch ? "WATCH" : exchange.method, exchange.path);
  const limit = limitTime({ clock: transport.clock, doing, timeoutMs: defaultTimeoutMs }, signal);
  let answer: Dispatcher.ResponseData | undefined;
  try {
    answer = await open(transport, exchange, limit.signal);
    // Without a listener a stream that breaks while nobody is reading would end the process.
    answer.body.on("error", () => {});
    limit.stopTimer();
    stop(String(answer.statusCode));
    if (answer.statusCode !== 200) throw await failure(transport, { doing, answer }, exchange);
    yield* readLines(answer.body);
  } catch (error) {
    stop(signal.aborted ? "aborted" : "broken");
    throw translate(error, { doing, limit, transport, exchange });
  } finally {
    limit.release();
    answer?.body.destroy();
  }
}

async function failure(
  transport: Transport,
  failed: { readonly doing: string; readonly answer: Dispatcher.ResponseData },
  exchange: Exchange,
): Promise<Error> {
  const { doing, answer } = failed;
  const retryAfter = answer.headers["retry-after"];
  const body = await readBeginning(answer.body);
  const context = contextOf(transport, exchange);
  return errorForAnswer(
    doing,
    { status: answer.statusCode, body, retryAfter: typeof retryAfter === "string" ? retryAfter : undefined },
    { context, nowMs: transport.clock.now() },
  );
}

/** Our own errors and reasons of aborted signals as they are; whatever the wire did becomes `UnavailableError`. */
function translate(
  error: unknown,
  during: { readonly doing: string; readonly limit: TimeLimit; readonly transport: Transport; readonly exchange: Exchange },
): unknown {
  if (during.limit.signal.aborted) return during.limit.signal.reason;
  if (error instanceof Error && "context" in error) return error;
  if (error instanceof errors.InvalidArgumentError)
    return new DefectError(during.doing, { code: "kube.bad-request", context: contextOf(during.transport, during.exchange), cause: error });
  return new UnavailableError(during.doing, {
    code: "kube.unreachable",
    context: contextOf(during.transport, during.exchange),
    cause: error,
  });
}

/** Whether nobody was there, or nobody answered. */
function isAbsence(error: unknown): boolean {
  return error instanceof UnavailableError && ["kube.unreachable", "kube.timeout", "kube.away"].includes(error.code);
}

function contextOf(transport: Transport, exchange: Exchange) {
  return { cluster: transport.cluster, method: exchange.method, path: exchange.path };
}
