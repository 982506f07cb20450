import type { EgressSpec } from "../../domain/fleet.ts";
import { repositoryKey, scpLike } from "../../domain/repository-credential.ts";
import { hasControlCharacters, parseRepositoryUrl } from "../repository-url.ts";

/** A repository's URL, taken apart as far as whoever connects needs it. */
export interface RepositoryAddress {
  /** As the user wrote it, but for space around it. */
  readonly url: string;
  /** See {@link repositoryKey}. */
  readonly key: string;
  readonly scheme: "https" | "http" | "ssh";
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

export type ParsedRepositoryAddress =
  | { readonly ok: true; readonly address: RepositoryAddress }
  | { readonly ok: false; readonly message: string };

const PORTS = { https: 443, http: 80, ssh: 22 } as const;
const hostName = /^[A-Za-z0-9_]([A-Za-z0-9_-]|\.(?!\.|$))*$/;
const addressLiteral = /^\[[0-9A-Fa-f:.]+\]$/;

/**
 * Reads a credential's `spec.repository`: everything a deployment's URL must hold to, and no character that Argo CD would read
 * as a pattern (it adds the URLs of a project's credentials to what the project permits), no query, and for SSH a user.
 */
export function parseRepositoryAddress(raw: string, egress: EgressSpec, path = "spec.repository"): ParsedRepositoryAddress {
  const refuse = (complaint: string): ParsedRepositoryAddress => ({ ok: false, message: `${path} ${complaint}` });
  const parsed = parseRepositoryUrl(raw, egress, path);
  if (!parsed.ok) return { ok: false, message: parsed.problem.message };
  const { url } = parsed;
  if (/[*?!#\\{}|^`"'<>\s]/.test(url) || hasControlCharacters(url)) return refuse("must not contain any of * ? ! # \\ { } | ^ ` \" ' < >");
  if (/%(?![0-9A-Fa-f]{2})/.test(url)) return refuse("is not a valid URL: % must be followed by two hexadecimal digits");
  const place = scpLike.test(url) ? placeOfScp(url) : placeOfUrl(url);
  if (place === undefined) return refuse("names no host: write its name or address as it is, without anything encoded");
  if (place.user === "") return refuse("names no user: write ssh://git@host/path");
  const { scheme, host, port } = place;
  return { ok: true, address: { url, key: repositoryKey(url), scheme, host, port } };
}

interface Place extends Pick<RepositoryAddress, "scheme" | "host" | "port"> {
  /** Undefined where there is none to be named. */
  readonly user: string | undefined;
}

function placeOfScp(url: string): Place | undefined {
  const host = bareHost(scpLike.exec(url)?.[1] ?? "");
  return host === undefined ? undefined : { scheme: "ssh", host, port: PORTS.ssh, user: url.slice(0, url.indexOf("@")) };
}

function placeOfUrl(text: string): Place | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || (scheme !== "https" && scheme !== "http" && scheme !== "ssh")) return undefined;
  const host = bareHost(url.hostname);
  // Whoever connects reads the text: a host that is another one there would not be the one that is checked.
  if (host === undefined || writtenHost(text) !== url.hostname.toLowerCase()) return undefined;
  const port = url.port === "" ? PORTS[scheme] : Number(url.port);
  return { scheme, host, port, user: scheme === "ssh" ? url.username : undefined };
}

function writtenHost(text: string): string | undefined {
  return /^[a-z]+:\/\/(?:[^/@]*@)?(\[[^\]]*\]|[^/:@]*)(?::\d+)?(?:\/|$)/i.exec(text)?.[1]?.toLowerCase();
}

/** Nothing but a name or an address, so that it can stand in a command's options. */
function bareHost(text: string): string | undefined {
  if (addressLiteral.test(text)) return text.slice(1, -1);
  return text.length <= 253 && hostName.test(text) ? text : undefined;
}
