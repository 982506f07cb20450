import type { KubeObject } from "../../runtime/kube/resource.ts";
import { APPLICATIONS } from "../adapters/kubernetes/types.ts";
import type { World } from "./world.ts";

type Json = Readonly<Record<string, unknown>>;

/** An Application as far as syncs go. */
export type SyncedApplication = KubeObject & {
  readonly operation?: { readonly info?: readonly { readonly value: string }[]; readonly sync?: Json };
  readonly status?: { readonly operationState?: Json & { readonly phase?: string; readonly operation?: Json } };
};

/** Argo CD's part of a sync, step by step. */
export interface PlayedSyncs {
  read(): Promise<SyncedApplication | undefined>;
  /** Takes up what is asked for; goes on with what is under way, to this end; terminates what is to be terminated. */
  step(end?: "Succeeded" | "Failed"): Promise<void>;
  /** Uids of the runs whose syncs were begun, in order. */
  readonly begun: readonly string[];
}

export function playSyncs({ hands, signal }: World, at: { readonly namespace: string; readonly name: string }): PlayedSyncs {
  const begun: string[] = [];
  const read = () => hands.engine.get<SyncedApplication>(APPLICATIONS, at, signal);
  const begin = (operation: SyncedApplication["operation"]) => {
    begun.push(operation?.info?.[0]?.value ?? "");
    return { status: { operationState: { phase: "Running", operation, startedAt: "2026-01-01T00:00:00Z" } } };
  };
  const finish = (phase: string, message: string) => ({
    operation: null,
    status: { operationState: { phase, message, finishedAt: "2026-01-01T00:00:09Z", syncResult: { revision: "0123" } } },
  });
  return {
    read,
    begun,
    async step(end = "Succeeded") {
      const application = await read();
      if (application?.operation === undefined) return;
      const phase = application.status?.operationState?.phase;
      const isTerminating = phase === "Terminating";
      const change =
        phase === undefined
          ? begin(application.operation)
          : finish(isTerminating ? "Failed" : end, isTerminating ? "Operation terminated" : "");
      await hands.engine.mergePatch(APPLICATIONS, at, change, signal);
    },
  };
}
