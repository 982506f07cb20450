import process from "node:process";
import { InputError } from "../../../src/domain/errors.ts";
import { argoCdImageName, type FleetImages, REDIS_IMAGE } from "../../fleet/images.ts";

const ANSWER_MS = 15_000;
/** What a tag may stand for: one image, or one for each architecture. */
const KINDS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/** The images of a release with the digests that their registries have now, or those that ARGOSY_ARGO_CD_IMAGE and ARGOSY_REDIS_IMAGE name. */
export async function publishedImages(version: string, signal: AbortSignal): Promise<FleetImages> {
  const { ARGOSY_ARGO_CD_IMAGE: image, ARGOSY_REDIS_IMAGE: redisImage } = process.env;
  return {
    image: image ?? (await withDigest(argoCdImageName(version), "ARGOSY_ARGO_CD_IMAGE", signal)),
    redisImage: redisImage ?? (await withDigest(REDIS_IMAGE, "ARGOSY_REDIS_IMAGE", signal)),
  };
}

async function withDigest(image: string, variable: string, signal: AbortSignal): Promise<string> {
  try {
    return `${image}@${await askDigest(addressOf(image), AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]))}`;
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new InputError(`the digest of ${image} cannot be asked for`, {
      ...{ code: "up.no-digest", path: variable, cause },
      remedy: `Let this machine reach the registry, or name the image with its digest in ${variable}`,
    });
  }
}

/** Where the registry has what a tag stands for. */
export function addressOf(image: string): string {
  const [, host, repository, tag] = /^([^/]+)\/(.+):([^:/]+)$/.exec(image) ?? [];
  return `https://${host}/v2/${repository}/manifests/${tag}`;
}

/** Asks as anybody may: registries of public images hand a token to whoever asks for one. */
export async function askDigest(address: string, signal: AbortSignal): Promise<string> {
  const ask = (token?: string) =>
    fetch(address, {
      method: "HEAD",
      headers: { accept: KINDS, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      signal,
    });
  const first = await ask();
  const challenge = first.headers.get("www-authenticate") ?? "";
  const answer = first.status === 401 ? await ask(await askToken(challenge, signal)) : first;
  const digest = answer.headers.get("docker-content-digest") ?? "";
  if (!answer.ok || !/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`the registry answered ${answer.status} and no digest`);
  return digest;
}

async function askToken(challenge: string, signal: AbortSignal): Promise<string> {
  const fields = new Map([...challenge.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]));
  const url = new URL(fields.get("realm") ?? "");
  for (const name of ["service", "scope"]) url.searchParams.set(name, fields.get(name) ?? "");
  const response = await fetch(url, { signal });
  const { token, access_token: other } = (await response.json()) as { readonly token?: string; readonly access_token?: string };
  return token ?? other ?? "";
}
