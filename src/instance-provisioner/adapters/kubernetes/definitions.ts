import type { EngineObject } from "../../../domain/engine.ts";
import { FIELD_MANAGER } from "../../../domain/names.ts";
import { compareVersions } from "../../../domain/version.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type KubeObject, resourcePath } from "../../../runtime/kube/resource.ts";
import { DEFINITIONS } from "./types.ts";

/** Release a definition was taken from. Instances of several releases share it, and only the newest serves them all. */
const ANNOTATION_RELEASE = "argosy.dev/argo-cd-version";

/** Metadata alone: a definition is up to 400 KB, and its annotation is all there is to know. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/**
 * Brings definitions to a release unless ones of a newer release were written before: going back would drop fields that newer
 * instances have stored. Definitions of other origin are taken over. Server-side apply, because client-side apply keeps a
 * copy in an annotation that is too small for these. Returns the names of those written.
 */
export async function ensureDefinitions(
  client: KubeClient,
  release: { readonly version: string; readonly objects: readonly EngineObject[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const object of release.objects) {
    const { name } = object.metadata;
    const present = await releaseOf(client, name, signal);
    if (present !== undefined && compareVersions(present, release.version) >= 0) continue;
    const annotations = { ...object.metadata.annotations, [ANNOTATION_RELEASE]: release.version };
    await client.apply(
      DEFINITIONS,
      { ...object, metadata: { ...object.metadata, annotations } },
      { fieldManager: FIELD_MANAGER, decode: false },
      signal,
    );
    written.push(name);
  }
  return written;
}

async function releaseOf(client: KubeClient, name: string, signal: AbortSignal): Promise<string | undefined> {
  const page = await client.request<{ readonly items?: readonly KubeObject[] }>(
    {
      method: "GET",
      path: resourcePath(DEFINITIONS),
      query: { fieldSelector: `metadata.name=${name}` },
      accept: METADATA_ONLY.replace("PartialObjectMetadata;", "PartialObjectMetadataList;"),
    },
    signal,
  );
  return page.items?.find((item) => item.metadata.name === name)?.metadata.annotations?.[ANNOTATION_RELEASE];
}
