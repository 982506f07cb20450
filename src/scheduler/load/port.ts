import type { Instance } from "../../domain/instance.ts";

/** Lines of the metrics page of an instance's controller as they come; whoever stops reading ends the request. */
export type ReadControllerMetrics = (instance: Pick<Instance, "namespace" | "engineCluster">, signal: AbortSignal) => AsyncIterable<string>;
