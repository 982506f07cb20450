import type { EngineObject } from "../../../domain/engine.ts";
import { FIELD_MANAGER } from "../../../domain/names.ts";
import { compareVersions } from "../../../domain/version.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type KubeObject, resourcePath } from "../../../runtime/kube/resource.ts";
import { DEFINITIONS } from "./types.ts";

/** The release a CRD was taken from. All instances of a cluster share the CRD, and only the newest serves all their releases. */
const ANNOTATION_RELEASE = "argosy.dev/argo-cd-version";

/** Only metadata is read: a CRD has up to 400 KB, and the annotation is all that is needed. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/**
 * Applies the CRDs of a release, unless CRDs of a newer release are there: a downgrade would drop fields that newer
 * instances have stored. CRDs that somebody else installed are taken over. This is server-side apply, because
 * client-side apply keeps a copy in an annotation, and CRDs are too large for that. Returns the names of the CRDs
 * that were written.
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
