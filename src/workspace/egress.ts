import type { EgressSpec } from "../domain/fleet.ts";
import { type Address, embeddedIpv4, isInRange, parseAddress, parseRange } from "./address.ts";

/**
 * Addresses that lead inside, or nowhere (IANA's special-purpose registries, RFC 6890): private, shared, loopback,
 * link-local (cloud metadata among them), documentation, benchmarking, multicast and reserved ones.
 */
const INSIDE = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"],
  ...["192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
  ...["::/127", "100::/64", "2001:db8::/32", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"],
].flatMap((text) => parseRange(text) ?? []);

/** Names that only resolve on the machine or in the cluster that asks. */
const INSIDE_SUFFIXES = [".localhost", ".local", ".svc", ".internal", ".home.arpa", ".localdomain"];

/**
 * Why a host may not be reached, in words for a user; `undefined` if it may, as far as its name tells. A literal address
 * inside needs a range of `egress.allow`; a name that can only mean something inside needs to stand in `egress.http`, the
 * administrator's list of known hosts. What other names resolve to is checked where they are resolved.
 */
export function whyNotReachable(host: string, egress: EgressSpec): string | undefined {
  const address = parseHostAddress(host);
  if (address !== undefined) return isAddressAllowed(address, egress) ? undefined : `the address ${host} may not be reached from here`;
  const name = normalName(host);
  const isInside = !name.includes(".") || INSIDE_SUFFIXES.some((suffix) => name.endsWith(suffix)) || name.endsWith(".cluster.local");
  return isInside && !isKnownHost(name, undefined, egress) ? `the host ${host} may not be reached from here` : undefined;
}

/** Whether an address, literal or resolved, may be reached. */
function isAddressAllowed(address: Address, egress: Pick<EgressSpec, "allow">): boolean {
  const real = embeddedIpv4(address) ?? address;
  if (!INSIDE.some((range) => isInRange(real, range))) return true;
  return egress.allow.some((text) => {
    const range = parseRange(text);
    return range !== undefined && isInRange(real, range);
  });
}

/** Whether the administrator's list names this host, or this host and port. */
export function isKnownHost(host: string, port: string | undefined, egress: Pick<EgressSpec, "http">): boolean {
  const name = normalName(host);
  return egress.http.some(
    (entry) => normalName(entry) === name || (port !== undefined && port !== "" && normalName(entry) === `${name}:${port}`),
  );
}

/** Programs also take `127.1`, `0x7f000001` or `2130706433` for an address: read them as a browser does. */
function parseHostAddress(host: string): Address | undefined {
  const literal = parseAddress(host);
  if (literal !== undefined) return literal;
  const url = `https://${host.replace(/\.$/, "")}/`;
  return URL.canParse(url) ? parseAddress(new URL(url).hostname) : undefined;
}

function normalName(host: string): string {
  return host.toLowerCase().replace(/\.$/, "");
}
