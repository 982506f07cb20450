import { expect, it } from "vitest";
import { copyStatus } from "./prepare.ts";

const copyOf = (status: Record<string, unknown>) => copyStatus({ status }).status;

it("copies an operation only if it succeeded: a failed one would keep the revision from being synced again", () => {
  expect(copyOf({ sync: 1, operationState: { phase: "Succeeded" } })).toEqual({ sync: 1, operationState: { phase: "Succeeded" } });
  for (const phase of ["Failed", "Error", "Running", "Terminating"])
    expect(copyOf({ sync: 1, operationState: { phase } })).toEqual({ sync: 1 });
});

it("keeps the last entries of the history", () => {
  const history = Array.from({ length: 9 }, (_, id) => ({ id }));
  expect(copyOf({ history })).toEqual({ history: history.slice(-5) });
});

it("brings a status to a size that an API server takes, and keeps what Argo CD decides from", () => {
  const resources = Array.from({ length: 5_000 }, (_, index) => ({ name: `r-${index}`, message: "x".repeat(100) }));
  const operationState = { phase: "Succeeded", syncResult: { revision: "1", resources } };
  const copy = copyOf({ sync: { status: "Synced" }, reconciledAt: "t", resources, summary: { images: resources }, operationState });
  expect(JSON.stringify(copy).length).toBeLessThan(400_000);
  expect(copy).toMatchObject({
    sync: { status: "Synced" },
    reconciledAt: "t",
    operationState: { phase: "Succeeded", syncResult: { revision: "1" } },
  });
  const huge = copyOf({ sync: { status: "Synced" }, resources: resources.map((one) => ({ ...one, message: "x".repeat(9_000) })) });
  expect(huge).toEqual({ sync: { status: "Synced" } });
});
