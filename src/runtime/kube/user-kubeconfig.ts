import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { parse } from "yaml";
import { whyNotPrivateKey } from "../private-key.ts";
import { type Fields, type KubeconfigEntry, parseKubeconfig } from "./kubeconfig.ts";

/** What a stranger's kubeconfig gives for one server, reduced to what can be sent there. */
export interface UserAccess {
  /** As the kubeconfig writes it, without slashes at its end. */
  readonly server: string;
  readonly token?: string;
  /** PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly ca?: string;
  readonly serverName?: string;
}

export type ParsedUserKubeconfig =
  | { readonly kind: "found"; readonly access: UserAccess }
  | { readonly kind: "no-context" }
  /** It cannot be read, or names something that is not taken from strangers; `why` is for its owner and quotes no value. */
  | { readonly kind: "unusable"; readonly why: string };

/** A few clusters with certificates and keys; small enough that the worst of this length is parsed in the time of a few requests. */
const LONGEST = 32 * 1024;
const MOST_ENTRIES = 1000;
/** Longest token, in characters: tokens of API servers have about a thousand. */
const LONGEST_TOKEN = 16 * 1024;

/**
 * Aliases, and looking for keys that stand there twice, would cost the square of their number; so would a message for each error
 * that shows its line. Keys that are maps would be written out once for each map around them. Warnings would quote.
 */
const PARSING = { maxAliasCount: 0, uniqueKeys: false, prettyErrors: false, stringKeys: true, logLevel: "error" } as const;

/**
 * Reads a kubeconfig that a stranger gave us: the first context, in the order of the file, whose cluster is the one at `server`
 * (letter case and slashes at the end do not matter). Taken are bearer tokens and client certificates with the authority beside
 * them; files, commands, auth providers, proxies, passwords and impersonation are refused, for each would reach for something
 * that is ours.
 */
export function parseUserKubeconfig(text: string, server: string): ParsedUserKubeconfig {
  if (text.length > LONGEST) return unusable(`it is longer than ${LONGEST / 1024} KiB`);
  const root = parseRoot(text);
  if (root === undefined)
    return unusable("json parse error: it is neither YAML (without aliases) nor JSON with clusters, users and contexts");
  const context = contextsOf(root).find((each) => isSame(each.server, server));
  if (context === undefined) return { kind: "no-context" };
  const parsed = parseKubeconfig({ text: root, context: context.name, directory: undefined, readFile: () => "" });
  return parsed.ok ? accessOf(parsed.entry) : unusable(`${withoutNames(parsed.error.path)}: ${parsed.error.remedy}`);
}

/** Names in a kubeconfig are anything, tokens and line ends among it: their owner knows which of each is meant. */
function withoutNames(path: string): string {
  return path.replace(/^(clusters|contexts|users)\[.*\]/s, "$1[…]");
}

function accessOf({ server, tls, token }: KubeconfigEntry): ParsedUserKubeconfig {
  if (token.kind !== "none" && token.kind !== "fixed") return unusable("the user must have a token or a client certificate");
  if (token.kind === "none" && tls.certificate === undefined) return unusable("the user has neither a token nor a client certificate");
  if (token.kind === "fixed" && !isToken(token.token))
    return unusable("the token is longer than any, or has characters that no token may have");
  const { ca, serverName, certificate } = tls;
  const whyNotKey = certificate === undefined ? undefined : whyNotPrivateKey(certificate.key);
  if (whyNotKey !== undefined) return unusable(whyNotKey);
  if (!isReadable({ ca, certificate })) return unusable("a certificate or key is no PEM, or they do not belong together");
  return {
    kind: "found",
    access: {
      server: server.replace(/\/+$/, ""),
      ...(token.kind === "fixed" ? { token: token.token } : {}),
      ...(certificate === undefined ? {} : { certificate }),
      ...(ca === undefined ? {} : { ca }),
      ...(serverName === undefined ? {} : { serverName }),
    },
  };
}

function isToken(text: string): boolean {
  return text.length <= LONGEST_TOKEN && /^[\x21-\x7e]+$/.test(text);
}

function isReadable({ ca, certificate }: { readonly ca: string | undefined; readonly certificate: UserAccess["certificate"] }): boolean {
  try {
    if (certificate !== undefined) createSecureContext(certificate);
    const blocks = ca?.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
    blocks?.forEach((block) => new X509Certificate(block));
    return ca === undefined || (blocks?.length ?? 0) > 0;
  } catch {
    return false;
  }
}

/** Each name once: whoever reads by name takes the first that has it, and so do we. */
function contextsOf(root: Fields): readonly { readonly name: string; readonly server: string }[] {
  const servers = new Map<unknown, unknown>();
  for (const { name, body } of entriesOf(root, "clusters", "cluster")) if (!servers.has(name)) servers.set(name, body["server"]);
  const seen = new Set<unknown>();
  return entriesOf(root, "contexts", "context").flatMap(({ name, body }) => {
    const server = servers.get(body["cluster"]);
    if (seen.has(name)) return [];
    seen.add(name);
    return typeof name === "string" && name !== "" && typeof server === "string" ? [{ name, server }] : [];
  });
}

function entriesOf(root: Fields, list: string, body: string): readonly { readonly name: unknown; readonly body: Fields }[] {
  const entries: unknown = root[list];
  if (!Array.isArray(entries)) return [];
  return entries
    .slice(0, MOST_ENTRIES)
    .filter(isFields)
    .flatMap((entry) => (isFields(entry[body]) ? [{ name: entry["name"], body: entry[body] }] : []));
}

function isSame(a: string, b: string): boolean {
  const plain = (url: string): string => url.toLowerCase().replace(/\/+$/, "");
  return plain(a) === plain(b);
}

function parseRoot(text: string): Fields | undefined {
  try {
    const root: unknown = parse(text, PARSING);
    return isFields(root) ? root : undefined;
  } catch {
    // The parser's message quotes the line, and kubeconfigs are full of secrets; so do its warnings, which it would print.
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unusable(why: string): ParsedUserKubeconfig {
  return { kind: "unusable", why };
}
