import type { Instance } from "../../domain/instance.ts";

/** A page of metrics of one process of an instance. */
export interface InstancePage {
  readonly of: "controller" | "repo-server";
  readonly pod: string;
  /** Streamed; a reader that stops ends the request. */
  readonly lines: AsyncIterable<string>;
}

/** The page of an instance's controller, then those of its repo-servers where they can be reached one by one. */
export type ReadInstancePages = (
  instance: Pick<Instance, "namespace" | "engineCluster">,
  signal: AbortSignal,
) => AsyncIterable<InstancePage>;
