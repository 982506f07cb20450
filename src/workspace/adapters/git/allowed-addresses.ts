import { isIP } from "node:net";
import type { EgressSpec } from "../../../domain/fleet.ts";
import type { ResolveHost } from "../../../runtime/resolve-host.ts";
import { parseAddress } from "../../address.ts";
import { isAddressAllowed } from "../../egress.ts";

/** More are of no use to one probe. */
const ADDRESSES_AT_MOST = 8;

export interface AskedAddress {
  readonly host: string;
  readonly egress: EgressSpec;
}

/** The addresses of a host that may be reached, or why there is none. Whoever connects must use these, and ask nobody again. */
export async function allowedAddresses(
  { host, egress }: AskedAddress,
  resolve: ResolveHost,
  signal: AbortSignal,
): Promise<readonly string[] | "unreachable" | "not-allowed"> {
  const found = isIP(host) === 0 ? await resolve(host, signal) : [host];
  if (found.length === 0) return "unreachable";
  const allowed = found.filter((text) => {
    const address = parseAddress(text);
    return address !== undefined && isAddressAllowed(address, egress);
  });
  return allowed.length === 0 ? "not-allowed" : allowed.slice(0, ADDRESSES_AT_MOST);
}
