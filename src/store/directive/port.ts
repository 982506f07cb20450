import type { Decision } from "../../domain/decision.ts";
import type { Directive, Freeze, Hold, Pin } from "../../domain/directive.ts";
import type { WorkspaceId } from "../../domain/ids.ts";

/** What a person orders about a workspace: a member that is absent stays, `undefined` takes the order back. */
export interface DirectiveChange {
  readonly workspaceId: WorkspaceId;
  readonly change: { readonly pin: Pin | undefined } | { readonly hold: Hold | undefined };
  readonly decision: Decision;
}

/** People's standing orders about where workspaces live and when nothing moves. Written by SREs' commands, each with its entry in the journal. */
export interface DirectiveStore {
  /**
   * Changes one order and notifies the workspace's units. Their rows count as changed, so that a placement that was decided
   * without the order is decided again. Throws `GoneError` when there is no such workspace.
   */
  direct(change: DirectiveChange, signal: AbortSignal): Promise<void>;
  /** Nothing ordered where nothing is recorded. */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<Directive>;
  /** Makes or replaces the freeze of that name. */
  putFreeze(freeze: Freeze, decision: Decision, signal: AbortSignal): Promise<void>;
  /** Returns whether there was one of that name; only then the decision is journaled. */
  dropFreeze(name: string, decision: Decision, signal: AbortSignal): Promise<boolean>;
  /** Sorted by name. */
  listFreezes(signal: AbortSignal): Promise<readonly Freeze[]>;
}
