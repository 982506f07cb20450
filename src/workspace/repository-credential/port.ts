import type { EgressSpec } from "../../domain/fleet.ts";
import type { RepositorySecret } from "../../domain/repository-credential.ts";

/** Whom to ask, with what, and what may be reached. */
export interface RepositoryTarget {
  readonly url: string;
  readonly scheme: "https" | "http" | "ssh";
  readonly host: string;
  readonly port: number;
  /** Absent: it is asked as anybody may. */
  readonly secret: RepositorySecret | undefined;
  readonly egress: EgressSpec;
}

/** Probes whether a repository can be read. Ends by itself in bounded time; rejects only with the signal's reason. */
export interface RepositoryObserver {
  observe(
    target: RepositoryTarget,
    signal: AbortSignal,
  ): Promise<"readable" | "denied" | "not-found" | "moved" | "not-allowed" | "unknown-identity" | "unreachable" | "failed">;
}
