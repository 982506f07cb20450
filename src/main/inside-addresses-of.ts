import { resolveHost } from "../runtime/resolve-host.ts";
import { parseAddress } from "../workspace/address.ts";
import { isAddressAllowed } from "../workspace/egress.ts";

const NOTHING_ALLOWED = { allow: [] };
/** No pod reaches it in any case: nothing is reported to whoever runs everything on one machine. */
const LOOPBACK = /^(127\.|::1$)/;

/** Addresses of a URL's host that only the inside reaches: literal, or as name servers have them now. Sorted. */
export async function insideAddressesOf(url: string, signal: AbortSignal, resolve = resolveHost): Promise<readonly string[]> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const literal = parseAddress(host);
  const texts = literal === undefined ? await resolve(host, signal) : [host];
  return texts
    .filter((text) => {
      const address = parseAddress(text);
      return address !== undefined && !LOOPBACK.test(text) && !isAddressAllowed(address, NOTHING_ALLOWED);
    })
    .toSorted();
}
