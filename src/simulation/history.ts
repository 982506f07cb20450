import type { MovePhase } from "../domain/move.ts";
import type { JsonMap } from "../runtime/kube/testing/json.ts";

/** One thing that happened, as an observer who sees everything records it. */
export type Happening =
  | {
      readonly kind: "object";
      readonly cluster: string;
      readonly change: "ADDED" | "MODIFIED" | "DELETED";
      /** Plural with its group, as in `applications.argoproj.io`. */
      readonly resource: string;
      readonly namespace: string;
      readonly name: string;
      readonly object: JsonMap;
      readonly before: JsonMap | undefined;
      /** Who asked for it. */
      readonly by: string;
      /** When the request reached the API server, in milliseconds since the world began: a server that stands still carries it out later, when it wakes. */
      readonly askedAt: number;
    }
  /** Whom an owner binding lets write in a namespace of the managed cluster, as its authoriser sees it now. */
  | { readonly kind: "authority"; readonly namespace: string; readonly accounts: readonly string[] }
  /** A write of an engine that the managed cluster took or refused. */
  | {
      readonly kind: "engine-write";
      readonly instance: string;
      readonly account: string;
      readonly namespace: string;
      /** The Application that the object says it belongs to; empty where it says none. */
      readonly application: string;
      readonly taken: boolean;
    }
  /** A unit was cut, or has been taken over by another part of its workspace. */
  | { readonly kind: "parts"; readonly act: "CUT" | "TAKEN OVER"; readonly unit: string }
  /** An application has passed to another unit of its workspace, on the instance that both are on. */
  | { readonly kind: "passed"; readonly application: string; readonly unit: string }
  | { readonly kind: "placed"; readonly unit: string; readonly instance: string; readonly epoch: number; readonly namespace: string }
  /** A live move has gone into a phase. `epoch`: its own, 0 while it waits. */
  | {
      readonly kind: "move";
      readonly id: string;
      readonly unit: string;
      readonly from: string;
      readonly to: string;
      readonly phase: MovePhase;
      readonly epoch: number;
      readonly isFailOver: boolean;
    }
  | {
      readonly kind: "user";
      readonly act: "create" | "edit" | "delete" | "delete-namespace";
      readonly namespace: string;
      readonly name: string;
      readonly uid: string;
      readonly path: string;
    }
  | { readonly kind: "push"; readonly path: string; readonly files: readonly string[]; readonly revision: string }
  /** `isWrite`: at rest there should be no such call. */
  | { readonly kind: "call"; readonly by: string; readonly name: string; readonly isWrite: boolean }
  | { readonly kind: "fault"; readonly name: string; readonly from: string; readonly verdict: string }
  | { readonly kind: "chaos"; readonly trouble: string; readonly what: string }
  /** Faults have ended and everybody is back. */
  | { readonly kind: "calm" }
  /** The state of everything, taken while all is calm. */
  | { readonly kind: "photograph"; readonly photograph: Photograph };

export type ObjectHappening = Extract<Happening, { readonly kind: "object" }>;

/** The state of everything at one moment. */
export interface Photograph {
  readonly deployments: readonly DeployedStanding[];
  /** Users' namespaces that exist. */
  readonly namespaces: readonly string[];
  readonly rows: readonly {
    readonly uid: string;
    readonly argoName: string;
    readonly namespace: string;
    readonly owner: string | undefined;
  }[];
  readonly units: readonly {
    readonly namespace: string;
    readonly account: string;
    readonly epoch: number;
    readonly class: string;
    /** Of the instance that it lives on. */
    readonly ownerClass: string;
    /** That its namespace asks for. */
    readonly askedClass: string | undefined;
  }[];
  readonly applications: readonly {
    readonly instance: string;
    readonly name: string;
    readonly epoch: number;
    readonly path: string;
    readonly isDeleting: boolean;
  }[];
  readonly ownerBindings: readonly { readonly namespace: string; readonly subjects: readonly string[]; readonly epoch: number }[];
  readonly objects: readonly { readonly namespace: string; readonly name: string; readonly content: string; readonly tracking: string }[];
  /** Moves that have not ended. */
  readonly moves: readonly { readonly id: string; readonly phase: MovePhase; readonly message: string }[];
}

export interface DeployedStanding {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The folder it should deploy. */
  readonly path: string;
  readonly isDeleting: boolean;
  readonly isReady: boolean;
  /** What Git says its objects are, by name. */
  readonly wanted: Readonly<Record<string, string>>;
}

export interface Entry {
  /** Milliseconds since the world began. */
  readonly at: number;
  readonly happening: Happening;
}

export interface History {
  add(at: number, happening: Happening): void;
  entries(): readonly Entry[];
  /** Calls the follower with each entry that is added from now on. */
  follow(follower: (entry: Entry) => void): void;
}

/** Without `keepsEntries` entries go to the followers and are forgotten. */
export function createHistory(keepsEntries = true): History {
  const entries: Entry[] = [];
  const followers: ((entry: Entry) => void)[] = [];
  return {
    add(at, happening) {
      const entry = { at, happening };
      if (keepsEntries) entries.push(entry);
      for (const follower of followers) follower(entry);
    },
    entries: () => entries,
    follow: (follower) => void followers.push(follower),
  };
}
