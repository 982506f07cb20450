import type { KubeClient } from "./client.ts";
import type { Reflector } from "./reflector.ts";

/** Reflectors by key that are opened when they are asked for, and ended when nobody needs them any more. */
export interface KeyedReflectors<T> {
  /** The reflector of that key. It is opened where there is none, and opened anew where that one uses another client. */
  open(key: string, client: KubeClient): Reflector<T>;
  /** `undefined`: none is open. */
  get(key: string): Reflector<T> | undefined;
  /** Ends that one. */
  close(key: string): void;
  /** Ends all others. */
  keepOnly(keys: ReadonlySet<string>): void;
  /** Ends them all. Resolves when they have ended, those included that were ended before. */
  end(): Promise<void>;
}

/** `create` gives the reflector of a key, not started. */
export function createKeyedReflectors<T>(create: (key: string, client: KubeClient) => Reflector<T>): KeyedReflectors<T> {
  const open = new Map<string, { readonly client: KubeClient; readonly reflector: Reflector<T>; readonly ending: AbortController }>();
  const ending = new Set<Promise<void>>();

  const close = (key: string): void => {
    const known = open.get(key);
    if (known === undefined) return;
    open.delete(key);
    known.ending.abort(new Error("nobody needs this watch any more"));
    const ended = known.reflector.stopped().finally(() => ending.delete(ended));
    ending.add(ended);
  };
  return {
    open(key, client) {
      const known = open.get(key);
      if (known?.client === client) return known.reflector;
      close(key);
      const opened = { client, reflector: create(key, client), ending: new AbortController() };
      opened.reflector.start(opened.ending.signal);
      open.set(key, opened);
      return opened.reflector;
    },
    get: (key) => open.get(key)?.reflector,
    close,
    keepOnly(keys) {
      for (const key of [...open.keys()]) if (!keys.has(key)) close(key);
    },
    async end() {
      for (const key of [...open.keys()]) close(key);
      await Promise.all(ending);
    },
  };
}
