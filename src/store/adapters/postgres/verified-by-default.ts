import { isLoopback } from "../../../runtime/is-loopback.ts";

/**
 * The connection string with `sslmode=verify-full` where it says nothing about TLS and leads to another machine: a password and every row
 * would go there in plain text, to whoever answers. Who wants that says so, with `sslmode=disable`. A socket file and an address of this
 * machine stay as they are, and so does a string without a host, with which the driver finds one elsewhere.
 */
export function verifiedByDefault(url: string): string {
  const parsed = new URL(url);
  const parameters = parsed.searchParams;
  // With any of these the driver makes up its mind about TLS from the string itself.
  const isSaid = ["sslmode", "ssl"].some((name) => parameters.has(name));
  if (isSaid || isHere(hostOf(parsed))) return url;
  // Added to the text: another way of writing the rest could be read in another way.
  return `${url}${url.includes("?") ? "&" : "?"}sslmode=verify-full`;
}

/** As the driver finds it: the parameter wins, the last one of several. */
function hostOf({ hostname, searchParams }: URL): string {
  const host = searchParams.getAll("host").at(-1) ?? "";
  return host === "" ? decodeURIComponent(hostname) : host;
}

function isHere(host: string): boolean {
  return host === "" || host.startsWith("/") || isLoopback(host);
}
