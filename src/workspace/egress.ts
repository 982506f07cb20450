import type { EgressSpec } from "../domain/fleet.ts";
import { GLOBAL_V6, INSIDE_GLOBAL_V6, INSIDE_V4 } from "../domain/inside-addresses.ts";
import { type Address, type AddressRange, embeddedIpv4, isInRange, parseAddress, parseRange } from "./address.ts";

/** Addresses that carry IPv4 are judged by that where the Internet knows them: mapped, 64:ff9b::/96, 2002::/16. */
const [INSIDE, GLOBAL_UNICAST, NOT_GLOBAL] = [ranges(...INSIDE_V4), ranges(GLOBAL_V6), ranges(...INSIDE_GLOBAL_V6)];

function ranges(...texts: readonly string[]): readonly AddressRange[] {
  return texts.flatMap((text) => parseRange(text) ?? []);
}

function isOneOf(address: Address, list: readonly AddressRange[]): boolean {
  return list.some((range) => isInRange(address, range));
}

function isInside(address: Address): boolean {
  return address.bits === 32 ? isOneOf(address, INSIDE) : !isOneOf(address, GLOBAL_UNICAST) || isOneOf(address, NOT_GLOBAL);
}

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
export function isAddressAllowed(address: Address, egress: Pick<EgressSpec, "allow">): boolean {
  const real = embeddedIpv4(address) ?? address;
  return !isInside(real) || isOneOf(real, ranges(...egress.allow));
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
