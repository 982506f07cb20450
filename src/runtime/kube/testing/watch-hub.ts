import type { ResourceType } from "../resource.ts";
import { apiVersionOf } from "../resource.ts";
import { expired } from "./answers.ts";
import type { JsonMap } from "./json.ts";
import { metadataOf } from "./object-rules.ts";
import type { StoredChange } from "./object-store.ts";
import type { Selector } from "./selectors.ts";

export interface WatchRequest {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly selector: Selector;
  /** `undefined`: begin with what is there. */
  readonly since: number | undefined;
  readonly bookmarks: boolean;
}

/** One open watch and the connection behind it. */
export interface WatchStream {
  write(line: string): void;
  end(): void;
  reset(): void;
}

interface WatchEvent {
  readonly type: string;
  readonly object: JsonMap;
}

export type WatchHub = ReturnType<typeof createWatchHub>;

/** Sends every change to the watches it concerns and remembers the changes, so that a watch can start at any revision since the last compaction. */
export function createWatchHub(current: () => number) {
  const history: StoredChange[] = [];
  const open = new Map<WatchStream, WatchRequest>();
  let oldest = 0;
  let isSilent = false;

  function send(stream: WatchStream, event: WatchEvent): void {
    if (!isSilent) stream.write(lineOf(event));
  }

  function bookmark(stream: WatchStream, type: ResourceType): void {
    send(stream, {
      type: "BOOKMARK",
      object: { kind: type.kind, apiVersion: apiVersionOf(type), metadata: { resourceVersion: String(current()) } },
    });
  }

  function sendExpired(stream: WatchStream, since: number | undefined): void {
    send(stream, { type: "ERROR", object: expired(`too old resource version: ${since ?? 0} (${oldest})`).body });
    stream.end();
  }

  return {
    publish(change: StoredChange): void {
      history.push(change);
      // Most watches are sent the same.
      const lines = new Map<string, string>();
      for (const [stream, request] of open) {
        const event = eventFor(change, request);
        if (event === undefined || isSilent) continue;
        const line = lines.get(event.type) ?? lineOf(event);
        lines.set(event.type, line);
        stream.write(line);
      }
    },
    /** @param existing what is there now, for a watch that begins without a revision */
    start(stream: WatchStream, request: WatchRequest, existing: readonly JsonMap[]): void {
      const { since } = request;
      if (since !== undefined && since < oldest) return sendExpired(stream, since);
      const past =
        since === undefined ? [] : history.filter((change) => change.revision > since).map((change) => eventFor(change, request));
      const first = since === undefined ? existing.filter(request.selector).map((object) => ({ type: "ADDED", object })) : past;
      for (const event of first) if (event !== undefined) send(stream, event);
      open.set(stream, request);
    },
    /** To be called when the connection is gone or the server ends the watch; the latter says goodbye with a bookmark, as the real one does. */
    stop(stream: WatchStream, farewell: boolean): void {
      const request = open.get(stream);
      if (request !== undefined && farewell && request.bookmarks) bookmark(stream, request.type);
      open.delete(stream);
    },
    count: () => open.size,
    oldest: () => oldest,
    bookmarkAll(): void {
      for (const [stream, request] of open) if (request.bookmarks) bookmark(stream, request.type);
    },
    endAll(how: "end" | "reset"): void {
      for (const stream of [...open.keys()]) stream[how]();
    },
    silence(): void {
      isSilent = true;
    },
    unsilence(): void {
      isSilent = false;
    },
    compact(): void {
      oldest = current();
      history.length = 0;
    },
    expireAll(): void {
      for (const stream of [...open.keys()]) sendExpired(stream, 0);
    },
  };
}

function lineOf(event: WatchEvent): string {
  return `${JSON.stringify(event)}\n`;
}

/** An object that begins or ceases to match the selector appears to the watch as added or deleted. */
function eventFor(change: StoredChange, request: WatchRequest): WatchEvent | undefined {
  const { type, object, before, kind } = change;
  if (type.group !== request.type.group || type.plural !== request.type.plural) return undefined;
  if (request.namespace !== "" && metadataOf(object)["namespace"] !== request.namespace) return undefined;
  const matched = before !== undefined && request.selector(before);
  const matches = kind !== "DELETED" && request.selector(object);
  if (!matched && !matches) return undefined;
  return { type: !matched ? "ADDED" : matches ? "MODIFIED" : "DELETED", object };
}
