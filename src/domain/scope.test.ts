import { expect, it } from "vitest";
import { parseScope } from "./scope.ts";

it("reads a stored scope, and takes what it does not understand for one that covers nothing", () => {
  expect(parseScope(null)).toBeUndefined();
  expect(parseScope({ classes: ["eu"], workspaces: ["team-*"] })).toEqual({ classes: ["eu"], workspaces: ["team-*"] });
  expect(parseScope({ classes: ["eu"] })).toEqual({ classes: ["eu"] });
  for (const odd of ["all", [], 7, {}, { classes: "eu" }, { classes: [7] }, { classes: ["eu"], tenants: ["x"] }])
    expect(parseScope(odd)).toEqual({});
});
