import { setTimeout as sleep } from "node:timers/promises";
import { asArray, asObject, asString, type Json } from "../../domain/json.ts";
import { createLineReader } from "../event-lines.ts";
import type { Tunnel } from "./tunnel.ts";

/** A cache of one kind in the whole cluster, kept as Argo CD keeps its own: a paged list, then watches from the last version that it was given. */
export interface Cache {
  /** `namespace/name` of each object, with what `data` says. */
  readonly objects: ReadonlyMap<string, string>;
  /** How often everything was listed. */
  lists(): number;
  /** Breaks the connection of the watch. */
  cut(): void;
}

export function keepCache(
  tunnel: Tunnel,
  path: string,
  { onChange, signal }: { readonly onChange: () => void; readonly signal: AbortSignal },
): Cache {
  let objects = new Map<string, string>();
  let lists = 0;
  let cutting = new AbortController();

  const list = async (): Promise<string> => {
    const found = new Map<string, string>();
    let version = "";
    let next = "";
    do {
      const query = new URLSearchParams({ limit: "3", ...(next === "" ? {} : { continue: next }) });
      const { status, body } = await tunnel.call({ path: `${path}?${query}` });
      if (status !== 200) throw new Error(`listing was answered with ${status}`);
      const { items, metadata } = asObject(body);
      for (const item of asArray(items).map(asObject)) found.set(keyOf(item), textOf(item));
      version = asString(asObject(metadata)["resourceVersion"]);
      next = asString(asObject(metadata)["continue"]);
    } while (next !== "");
    objects = found;
    lists += 1;
    onChange();
    return version;
  };

  /** Returns the version to resume at; empty: everything has to be listed. */
  const watch = async (from: string): Promise<string> => {
    cutting = new AbortController();
    const query = new URLSearchParams({ watch: "true", allowWatchBookmarks: "true", resourceVersion: from });
    const readLines = createLineReader();
    let version = from;
    try {
      const answer = await tunnel.open({ path: `${path}?${query}` }, AbortSignal.any([signal, cutting.signal]));
      for await (const chunk of answer as AsyncIterable<Buffer>)
        for (const line of readLines(chunk)) {
          const { type, object } = asObject(JSON.parse(line.toString("utf8")));
          const seen = asObject(object);
          if (type === "ERROR") return "";
          version = asString(asObject(seen["metadata"])["resourceVersion"]);
          if (type === "BOOKMARK") continue;
          if (asString(seen["kind"]) === "" || asString(seen["apiVersion"]) === "")
            throw new Error("an event does not say what its object is");
          if (type === "DELETED") objects.delete(keyOf(seen));
          else objects.set(keyOf(seen), textOf(seen));
          onChange();
        }
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("an event")) throw error;
    }
    return version;
  };

  void (async () => {
    let version = "";
    while (!signal.aborted) {
      try {
        version = await watch(version === "" ? await list() : version);
      } catch {
        version = "";
      }
      await sleep(5, undefined, { signal }).catch(() => {});
    }
  })();

  return {
    get objects() {
      return objects;
    },
    lists: () => lists,
    cut: () => cutting.abort(),
  };
}

function keyOf(object: Json): string {
  const { namespace, name } = asObject(object["metadata"]);
  return `${asString(namespace)}/${asString(name)}`;
}

function textOf(object: Json): string {
  return JSON.stringify(object["data"] ?? {});
}
