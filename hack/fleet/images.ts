import { sha256 } from "../../src/domain/hash.ts";

/** The images of a release, as a Fleet document names them. */
export interface FleetImages {
  readonly image: string;
  readonly redisImage: string;
}

export const REDIS_IMAGE = "public.ecr.aws/docker/library/redis:8.2.3-alpine";

export function argoCdImageName(version: string): string {
  return `quay.io/argoproj/argocd:v${version}`;
}

/** Images for nodes that run no images: there a name stands for a program, and so the digest is one of the name. */
export function imagesByName(version: string): FleetImages {
  return { image: withDigestOfName(argoCdImageName(version)), redisImage: withDigestOfName(REDIS_IMAGE) };
}

export function withDigestOfName(image: string): string {
  return `${image}@sha256:${sha256(image)}`;
}
