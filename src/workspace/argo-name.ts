import { sha256 } from "../domain/hash.ts";

/**
 * Shorter than a DNS label: Argo CD takes the Application's name for the name of the release when it renders a chart, and Helm takes none
 * of more than 53 characters.
 */
const LONGEST = 53;
/** 64 bits of the hash: with a million applications two are alike once in 37 million fleets. */
const HASH_LENGTH = 16;

/**
 * Name of the Argo CD Application of a resource: `<namespace>-<name>-<hash of its uid>`, a DNS label, cut to fit. Another
 * resource of the same name has another uid and therefore another name.
 */
export function argoName({ namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string }): string {
  const readable = `${namespace}-${name}`
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/^-+/, "");
  const cut = readable.slice(0, LONGEST - HASH_LENGTH - 1).replace(/-+$/, "");
  return [...(cut === "" ? [] : [cut]), sha256(uid).slice(0, HASH_LENGTH)].join("-");
}
