import { expect, it } from "vitest";
import { GoneError, RefusedError } from "../../domain/errors.ts";
import { soon } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { DeployerRole } from "../port.ts";
import { keepDeployerRole } from "./keep-deployer-role.ts";

it.each([
  ["is not allowed", new RefusedError("Reading the role", { code: "kube.forbidden" })],
  ["is deleted meanwhile", new GoneError("Reading the role", { code: "kube.gone" })],
])("is kept again half a minute after it %s, for no event asks for that", async (_what, error) => {
  const deployer: DeployerRole = {
    read: () => Promise.reject(error),
    discover: () => Promise.reject(error),
    replaceRules: () => Promise.reject(error),
  };
  const deps = { deployer, readerKinds: { keep: async () => [] }, fleet: { readFleet: async () => undefined }, log: silentLog };
  expect(await keepDeployerRole(deps, soon())).toEqual({ requeueAfterMs: 30_000 });
});
