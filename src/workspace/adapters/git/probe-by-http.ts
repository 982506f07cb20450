import { linkSignal } from "../../../runtime/kube/signals.ts";
import { createPinnedClient, type PinnedAnswer, type PinnedClient } from "../../../runtime/pinned-client.ts";
import type { CredentialOutcome } from "../../repository-credential/outcome.ts";
import type { RepositoryTarget } from "../../repository-credential/port.ts";
import { authoritiesOf, authorizationOf } from "./command.ts";

const [ADVERTISEMENT, RESULT] = ["application/x-git-upload-pack-advertisement", "application/x-git-upload-pack-result"] as const;
/** Hosts know Git by the beginning of it, and send browsers to other pages. */
const USER_AGENT = "git/2.47.0 (argosy)";

/**
 * Asks a Git host what `git ls-remote` asks it: which protocol it speaks, and in version 2 where HEAD is. It connects to these addresses only, and follows no redirect.
 * `undefined`: the answer is none that this understands, so that git has to ask. Rejects only with the signal's reason.
 * Source: gitprotocol-http(5), gitprotocol-v2(5).
 */
export async function probeByHttp(
  target: RepositoryTarget,
  { addresses, deadlineMs }: { readonly addresses: readonly string[]; readonly deadlineMs: number },
  signal: AbortSignal,
): Promise<CredentialOutcome | undefined> {
  const base = baseOf(target.url);
  if (base === undefined) return undefined;
  const limit = linkSignal(signal);
  const timer = setTimeout(() => limit.abort(new Error("the host takes too long")), deadlineMs);
  const client = createPinnedClient({
    origin: base.origin,
    addresses,
    authorities: authoritiesOf(target),
    timeoutMs: deadlineMs,
  });
  try {
    return await askTwice(client, { path: base.pathname, secret: target.secret }, limit.signal);
  } catch {
    signal.throwIfAborted();
    return limit.signal.aborted ? "unreachable" : undefined;
  } finally {
    clearTimeout(timer);
    limit.release();
    await client.close();
  }
}

/** The URL as Git goes on writing it; `undefined`: it has a user, or a path that Git may read in another way. */
function baseOf(text: string): URL | undefined {
  const [, path] = /^https?:\/\/[^/@]+(\/.*)$/i.exec(text.endsWith("/") ? text : `${text}/`) ?? [];
  if (path === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(path, text);
  return url.pathname === path ? url : undefined;
}

async function askTwice(
  client: PinnedClient,
  { path, secret }: { readonly path: string; readonly secret: RepositoryTarget["secret"] },
  signal: AbortSignal,
): Promise<CredentialOutcome | undefined> {
  const authorization = authorizationOf(secret);
  const headers = {
    ...{ "user-agent": USER_AGENT, "git-protocol": "version=2", "accept-encoding": "identity" },
    ...(authorization === undefined ? {} : { authorization }),
  };
  const first = await client.request({ method: "GET", path: `${path}info/refs?service=git-upload-pack`, headers }, signal);
  if (first.status !== 200 || first.type !== ADVERTISEMENT) return outcomeOf(first);
  const lines = linesOf(first.text).filter((line) => !line.startsWith("# service="));
  if (isRef(lines[0])) return "readable";
  if (lines[0]?.trimEnd() !== "version 2") return undefined;
  const format = lines.filter((line) => line.startsWith("object-format="));
  const body = [...["command=ls-refs\n", ...format].map(lineOf), "0001", lineOf("ref-prefix HEAD\n"), "0000"].join("");
  const types = { "content-type": "application/x-git-upload-pack-request", accept: RESULT };
  const second = await client.request({ method: "POST", path: `${path}git-upload-pack`, headers: { ...headers, ...types }, body }, signal);
  if (second.status !== 200 || second.type !== RESULT) return outcomeOf(second);
  // An empty repository has no HEAD.
  return second.text === "0000" || isRef(linesOf(second.text)[0]) ? "readable" : undefined;
}

/** What statuses mean to `git ls-remote`, as `readEnd` reads what it says of them. */
function outcomeOf({ status }: PinnedAnswer): CredentialOutcome | undefined {
  if (status === 401 || status === 403) return "denied";
  if (status === 404 || status === 410) return "not-found";
  if ([301, 302, 303, 307, 308].includes(status)) return "moved";
  return status === 429 || status >= 500 ? "unreachable" : undefined;
}

/** Whole lines of the format that Git's protocols are written in, up to what is none. Source: gitprotocol-common(5). */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; ; ) {
    const length = /^[0-9a-f]{4}$/i.test(text.slice(at, at + 4)) ? Number.parseInt(text.slice(at, at + 4), 16) : -1;
    if (length < 0 || at + length > text.length) return lines;
    if (length > 4) lines.push(text.slice(at + 4, at + length));
    // What is shorter than its own length separates.
    at += Math.max(length, 4);
  }
}

function lineOf(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
}

function isRef(line: string | undefined): boolean {
  return line !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64}) /.test(line);
}
