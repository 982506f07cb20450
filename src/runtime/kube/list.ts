import { setImmediate } from "node:timers/promises";
import type { KubeClient, ListOptions } from "./client.ts";
import type { KubeObject, ResourceType } from "./resource.ts";
import { apiVersionOf } from "./resource.ts";

export interface PagedList {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly options: ListOptions;
  readonly onObject: (object: KubeObject) => void;
}

/**
 * Lists everything in pages and hands over each object as it arrives, so that a page can be forgotten before the next one is read. The event
 * loop gets a turn between pages: decoding 500 Applications takes it for tens of milliseconds.
 *
 * @returns the resource version that a watch can go on from: all pages are cut from one snapshot
 */
export async function listInPages(list: PagedList, signal: AbortSignal): Promise<string> {
  const { client, type, options, onObject } = list;
  let first: string | undefined;
  let continueToken: string | undefined;
  do {
    const page = await client.listPage<KubeObject>(type, { ...options, ...(continueToken === undefined ? {} : { continueToken }) }, signal);
    first ??= page.resourceVersion;
    for (const item of page.items) onObject(withKind(item, type));
    continueToken = page.continueToken;
    if (continueToken !== undefined) await setImmediate();
  } while (continueToken !== undefined);
  return first;
}

/** Items of lists of built-in kinds come without their kind; events of watches have it. */
function withKind(item: KubeObject, type: ResourceType): KubeObject {
  return item.kind === undefined ? { apiVersion: apiVersionOf(type), kind: type.kind, ...item } : item;
}
