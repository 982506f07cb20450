import { describe, expect, it } from "vitest";
import {
  ACCOUNT_PURPOSE,
  accountCredentialPrefix,
  allowsClusterResources,
  ENVIRONMENT_PURPOSE,
  type Environment,
  entryCredentialKey,
  environmentCredentialKey,
  OWNER_PURPOSE,
  ownerCredentialId,
} from "./environment.ts";
import type { EnvironmentId, InstanceId, UnitId, WorkspaceId } from "./ids.ts";

const ID = "env-1" as EnvironmentId;
const OWNER = "team" as WorkspaceId;
const ACCOUNT = { unitId: "unit-1" as UnitId, instanceId: "instance-1" as InstanceId };

describe("a credential of an environment", () => {
  it("has an id of its own for each use", () => {
    expect(environmentCredentialKey(ID, OWNER, { purpose: ENVIRONMENT_PURPOSE })).toEqual({ id: ID, owner: OWNER, purpose: "environment" });
    expect(environmentCredentialKey(ID, OWNER, { purpose: OWNER_PURPOSE }).id).toBe(ownerCredentialId(ID));
    const { id } = environmentCredentialKey(ID, OWNER, { purpose: ACCOUNT_PURPOSE, account: ACCOUNT });
    expect(id).toBe(`${accountCredentialPrefix(ID)}unit-1.instance-1`);
  });

  it("that an instance enters with is an account of its own, or the user's where none are made", () => {
    const environment = (createsAccount: boolean) => ({ id: ID, workspaceId: OWNER, createsAccount }) as Environment;
    expect(entryCredentialKey(environment(true), ACCOUNT).purpose).toBe(ACCOUNT_PURPOSE);
    expect(entryCredentialKey(environment(false), ACCOUNT)).toMatchObject({ id: ID, purpose: ENVIRONMENT_PURPOSE });
  });
});

it.each([
  [[], false, true],
  [["a"], false, false],
  [["a"], true, true],
])(
  "an environment of namespaces %j with clusterResources %s allows objects outside of them: %s",
  (namespaces, clusterResources, allows) => {
    expect(allowsClusterResources({ namespaces, clusterResources })).toBe(allows);
  },
);
