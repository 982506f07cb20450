import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";

/** Addresses of a host; empty where its name leads nowhere at the moment, or nobody said so in time. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

const TIMEOUT_MS = 3_000;
const TRIES = 2;
/** These names never leave the machine (RFC 6761), and name servers do not know them. */
const OWN_NAME = /^(.+\.)?localhost\.?$/i;

/**
 * Asks the machine's name servers, whatever the name. Not the C library: its look-ups hold one of the few threads this process has
 * for files and ciphers, and a name server that is silent would hold up everything. Names that stand in a hosts file only are not
 * found, nor are short ones that a search list would complete.
 */
export async function resolveHost(host: string, signal: AbortSignal): Promise<readonly string[]> {
  if (OWN_NAME.test(host)) return ["127.0.0.1", "::1"];
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const answers = await Promise.allSettled(signal.aborted ? [] : [resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Answers whoever connects with these addresses, whatever the name, and asks nobody. */
export function answerWith(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = entries;
    if (options.all === true) callback(null, entries);
    else callback(null, first?.address ?? "", first?.family ?? 0);
  };
}
