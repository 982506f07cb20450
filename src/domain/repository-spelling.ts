import { repositoryKey, scpLike } from "./repository-credential.ts";

/** `scheme://user@host:port` and the rest; the port is absent where none is written. */
const urlParts = /^([a-z][a-z0-9+.-]*):\/\/((?:[^/@]*@)?(?:\[[^\]]*\]|[^/:@?#]*))(?::(\d*))?(.*)$/is;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { https: "443", http: "80", ssh: "22" };

/**
 * The same text for all spellings that lead to the same place on the wire: scheme and host in lower case, no port that goes without saying,
 * no zero before a port. Nothing is taken for granted of how a host reads paths: two paths are two places.
 */
export function placeOf(url: string): string {
  const parts = urlParts.exec(url);
  if (parts === null) return url;
  const [, scheme = "", host = "", port = "", rest = ""] = parts;
  const lower = scheme.toLowerCase();
  const plain = port.replace(/^0+(?=\d)/, "");
  const at = host.lastIndexOf("@") + 1;
  const shown = plain === "" || plain === DEFAULT_PORTS[lower] ? "" : `:${plain}`;
  return `${lower}://${host.slice(0, at)}${host.slice(at).toLowerCase()}${shown}${rest}`;
}

/**
 * Equal for all places that Argo CD could take for one repository, and for some more: what it leaves out, lowers or encodes anew when it
 * makes the key of a checkout (`NormalizeGitURL`) is left out here. Places of different keys never share a checkout.
 */
export function checkoutGroup(url: string): string {
  const key = repositoryKey(placeOf(url))
    .replace(/#.*$/s, "")
    .replace(/[^\0-\x7f]+/g, (text) => encodeURIComponent(text.toWellFormed()));
  return decoded(decoded(key))
    .toLowerCase()
    .replace(/\.git$/, "");
}

/** Percent-encoded bytes as characters, whatever they mean. */
function decoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/**
 * The URL by which an instance has a place that is the `ordinal`-th of its checkout group. The first one is written as its user wrote it,
 * the others with a port that could be left out, and as many zeros before it as it takes: whoever connects reads the same address, and
 * Argo CD, which compares texts, makes a checkout for each.
 */
export function spellingOf(url: string, ordinal: number): string {
  const parts = urlParts.exec(scpLike.test(url) && !urlParts.test(url) ? url.replace(scpLike, sshUrl) : placeOf(url));
  if (parts === null) return url;
  const [, scheme = "", host = "", port = "", rest = ""] = parts;
  if (ordinal === 0) return isPlain(url) ? url : placeOf(url);
  const zeros = "0".repeat(port === "" ? ordinal - 1 : ordinal);
  return `${scheme}://${host}:${zeros}${port === "" ? DEFAULT_PORTS[scheme] : port}${rest}`;
}

/** Whether no other ordinal could be meant. */
function isPlain(url: string): boolean {
  const [, scheme = "", , port] = urlParts.exec(url) ?? [];
  return port === undefined || (port !== DEFAULT_PORTS[scheme.toLowerCase()] && !/^0|^$/.test(port));
}

/** The other way to write `user@host:path`. */
function sshUrl(place: string): string {
  return `ssh://${place.slice(0, -1)}/`;
}
