import type { EgressSpec } from "../domain/fleet.ts";
import { LONGEST_URL } from "./api/parts/schema.ts";
import { isKnownHost, whyNotReachable } from "./egress.ts";
import type { Problem } from "./problem.ts";

export type ParsedUrl = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly problem: Problem };

/** `user@host:path`, what scp and Git take for SSH. Neither part may look like an option of the ssh command. */
const scpLike = /^([A-Za-z0-9_][A-Za-z0-9._-]*)@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_][A-Za-z0-9._-]*):(?!\/\/)([^-].*)$/;

/**
 * Checks a repository's URL: https, ssh or `user@host:path`; plain http only for hosts the administrator lists; no
 * credentials in it; no host inside that is not allowed. Space around it is dropped, characters a URL may not hold are
 * percent-encoded. The check of what a name resolves to belongs to whoever resolves it.
 */
export function parseRepositoryUrl(raw: string, egress: EgressSpec, path = "spec.source.repoURL"): ParsedUrl {
  const refuse = (complaint: string): ParsedUrl => ({ ok: false, problem: { path, message: `${path} ${complaint}` } });
  const trimmed = raw.trim();
  if (trimmed === "") return refuse("is a required field and it cannot be empty");
  if (hasControlCharacters(trimmed)) return refuse("must not contain control characters");
  const scp = scpLike.exec(trimmed);
  // Argo CD has no key for these: all of them would share one checkout.
  if (/%(?![0-9A-Fa-f]{2})/.test(scp === null ? encode(trimmed) : trimmed))
    return refuse("is not a valid URL: % must be followed by two hexadecimal digits");
  if (scp?.[3] !== undefined && /[^!-?A-~]/.test(scp[3]))
    return refuse("must not contain @, spaces or other characters than ASCII after the colon: write ssh://user@host/path");
  const why = scp?.[2] === undefined ? whyNotUrl(encode(trimmed), egress) : reachable(scp[2], egress);
  if (why !== undefined) return refuse(why);
  const url = scp === null ? encode(trimmed) : trimmed;
  // It comes back in a status, whose field takes no more.
  return url.length > LONGEST_URL ? refuse(`is longer than ${LONGEST_URL} characters once it is percent-encoded`) : { ok: true, url };
}

export function hasControlCharacters(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);
}

function whyNotUrl(text: string, egress: EgressSpec): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !["https", "ssh", "http"].includes(scheme))
    return "must begin with https:// or ssh://, or have the form user@host:path";
  if (!URL.canParse(text)) return "is not a valid URL";
  const url = new URL(text);
  if (url.hostname === "" || url.hostname.startsWith("-")) return "names no host";
  if (scheme === "http" && !isKnownHost(url.hostname, url.port, egress))
    return "uses plain http, which is not allowed for this host: use https:// or ssh://";
  if (url.password !== "" || (scheme !== "ssh" && url.username !== ""))
    return "must not contain credentials: create a GitOpsDeploymentRepositoryCredential instead";
  if (url.username !== "" && !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(url.username)) return "names a user that is none";
  return reachable(url.hostname, egress);
}

function reachable(host: string, egress: EgressSpec): string | undefined {
  const why = whyNotReachable(host, egress);
  return why === undefined ? undefined : `cannot be used: ${why}; ask your administrator if it should be`;
}

/** Percent-encodes what a URL may not hold; what is encoded already stays as it is. */
function encode(text: string): string {
  return text.replace(/[^\u0021-\u007e]|["<>\\^`{|}]/gu, (character) =>
    encodeURIComponent(character.isWellFormed() ? character : "\ufffd"),
  );
}
