import type { Brand } from "./brand.ts";

/** Ids are made by the caller (see {@link Ids}) and passed in, so that a repeated step writes the same row. */
export type WorkspaceId = Brand<string, "WorkspaceId">;
export type ApplicationId = Brand<string, "ApplicationId">;
export type UnitId = Brand<string, "UnitId">;
export type InstanceId = Brand<string, "InstanceId">;
export type EnvironmentId = Brand<string, "EnvironmentId">;
export type CredentialId = Brand<string, "CredentialId">;
export type RepositoryCredentialId = Brand<string, "RepositoryCredentialId">;
export type OperationId = Brand<string, "OperationId">;
export type PlanId = Brand<string, "PlanId">;
export type MoveId = Brand<string, "MoveId">;
export type RolloutId = Brand<string, "RolloutId">;
export type ProposalId = Brand<string, "ProposalId">;
export type MemberId = Brand<string, "MemberId">;

/** Source of new ids: UUIDs in production, a counter in tests and in the simulation. */
export interface Ids {
  next<Id extends string>(): Id;
}
