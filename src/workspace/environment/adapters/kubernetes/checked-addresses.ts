import { isIP, type LookupFunction } from "node:net";
import { answerWith, type ResolveHost } from "../../../../runtime/resolve-host.ts";
import { endpointKey, parseAddress } from "../../../address.ts";
import { isAddressAllowed } from "../../../egress.ts";
import type { ProbeTarget } from "../../port.ts";

/** What may be connected to on the way to one server. */
export type CheckedAddresses =
  /** `lookup` answers with what was checked and asks nobody again. */
  | { readonly kind: "open"; readonly lookup: LookupFunction }
  | { readonly kind: "closed"; readonly why: "inside" | "reserved" }
  /** Its name leads nowhere. */
  | { readonly kind: "nowhere" };

/** More are of no use to one visit. */
const ADDRESSES_AT_MOST = 8;

export interface AddressCheck {
  /** Keys of listeners that no user may reach. */
  readonly reserved: ReadonlySet<string>;
  readonly resolve: ResolveHost;
}

/** Resolves the host of a server once, and keeps of its addresses those that may be reached. */
export async function checkAddresses(
  { server, egress }: Pick<ProbeTarget, "server" | "egress">,
  { reserved, resolve }: AddressCheck,
  signal: AbortSignal,
): Promise<CheckedAddresses> {
  const url = new URL(server);
  const port = portOf(url);
  const host = hostOf(url);
  const judge = (text: string): "inside" | "reserved" | undefined => {
    const address = parseAddress(text);
    if (address === undefined || !isAddressAllowed(address, egress)) return "inside";
    return reserved.has(endpointKey(text, port)) ? "reserved" : undefined;
  };
  const found = isIP(host) === 0 ? await resolve(host, signal) : [host];
  const judged = found.map((address) => ({ address, why: judge(address) }));
  // One address of a reserved listener is enough: the others are its other names.
  if (reserved.has(endpointKey(host, port)) || judged.some(({ why }) => why === "reserved")) return { kind: "closed", why: "reserved" };
  if (found.length === 0) return { kind: "nowhere" };
  const open = judged.filter(({ why }) => why === undefined).map(({ address }) => address);
  return open.length === 0 ? { kind: "closed", why: "inside" } : { kind: "open", lookup: answerWith(open.slice(0, ADDRESSES_AT_MOST)) };
}

export function portOf(url: URL): number {
  return url.port === "" ? 443 : Number(url.port);
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}
