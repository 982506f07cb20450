import { bookmark, type ObjectKind, readEvent, withToken } from "./event-lines.ts";
import type { Holding, Membership } from "./membership.ts";
import { isWithin, renderToken, type VersionToken } from "./version-token.ts";

/** One watch of a client, and what it learnt by it. */
export interface FilteredWatch {
  readonly holding: Holding;
  /** What of an event of the API server is handed on: all of it with what follows from it, or nothing. */
  event(line: Buffer): readonly (Buffer | string)[];
  /**
   * Says that the objects of these namespaces were handed on, each as of the version of its list, and that nothing is missing up to a generation. Returns what
   * is handed on for it; `undefined`: versions are no numbers, and the client has to list again.
   */
  joined(lists: ReadonlyMap<string, string>, held: number): readonly string[] | undefined;
}

export interface WatchFacts {
  readonly membership: Pick<Membership, "joinedAt">;
  readonly kind: ObjectKind;
  /** Where the client resumes. */
  readonly from: VersionToken;
  readonly run: string;
  /** Whether the client asked for bookmarks. Without them it lists again after each end of its watch. */
  readonly takesBookmarks: boolean;
}

/**
 * Filters one watch, event by event. While the watch is behind the list of a namespace that was put into it, events of that namespace which the list has already are
 * left out, and the client gets no version to resume by: it would hear of the same changes once more, and take what was made anew since for gone.
 */
export function createFilteredWatch({ membership, kind, from, run, takesBookmarks }: WatchFacts): FilteredWatch {
  let { version: position, held } = from;
  const { listed } = from;
  /** Versions of lists that the watch has not come up to yet, by namespace. */
  const ahead = new Map<string, string>();

  const token = (): string => renderToken({ version: position, listed, held }, run);
  const mark = (): readonly string[] => (takesBookmarks && ahead.size === 0 ? [bookmark(token(), kind)] : []);
  /** Goes on to a version; returns whether the last list was reached by that. */
  const reach = (version: string): boolean => {
    position = version;
    if (ahead.size === 0) return false;
    if ([...ahead.values()].some((list) => isWithin(list, position) !== true)) return false;
    ahead.clear();
    return true;
  };
  const isHandedOn = (namespace: string, version: string): boolean => {
    const joinedAt = membership.joinedAt(namespace);
    if (joinedAt === undefined || joinedAt > held) return false;
    const list = ahead.get(namespace);
    return list === undefined || isWithin(version, list) !== true;
  };

  return {
    get holding() {
      return { listed, held };
    },
    event(line) {
      const { type, namespace, version } = readEvent(line);
      if (type === "ERROR") return [line];
      const isKept = type !== "BOOKMARK" && (namespace === undefined || isHandedOn(namespace, version));
      const isReached = reach(version);
      if (type === "BOOKMARK") return ahead.size > 0 ? [] : [withToken(line, token())];
      if (isKept) return [line, ...mark()];
      return isReached ? mark() : [];
    },
    joined(lists, generation) {
      if ([...lists.values()].some((list) => isWithin(list, list) === undefined)) return undefined;
      for (const [namespace, list] of lists) ahead.set(namespace, list);
      held = generation;
      if (lists.size > 0) reach(position);
      return lists.size === 0 ? [] : mark();
    },
  };
}
