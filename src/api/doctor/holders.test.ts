import { describe, expect, it } from "vitest";
import type { MemberId } from "../../domain/ids.ts";
import { ROLES } from "../../domain/role.ts";
import type { LiveMember } from "../../store/member/port.ts";
import { holdersOf, holderText } from "./holders.ts";

const member = (id: string, roles: readonly string[], user?: string): LiveMember => ({
  id: id as MemberId,
  roles,
  account: user === undefined ? undefined : { user, groups: ["system:authenticated", "system:serviceaccounts"] },
});

describe("whose rights are checked", () => {
  it("is each account once, with the roles of all processes that act as it", () => {
    const holders = holdersOf([member("1", ["api"], "b"), member("2", ["health", "api"], "b"), member("3", ["workspace"], "a")]);
    expect(holders.map(holderText)).toEqual(["a (role workspace)", "b (roles health, api)"]);
  });

  it("tells accounts apart by their groups, in whatever order a server names these", () => {
    const first = member("1", ["api"], "a");
    const turned = { ...member("2", ["health"], "a"), account: { user: "a", groups: ["system:serviceaccounts", "system:authenticated"] } };
    const other = { ...member("3", ["health"], "a"), account: { user: "a", groups: ["system:masters"] } };
    expect(holdersOf([first, turned])).toHaveLength(1);
    expect(holdersOf([first, other])).toHaveLength(2);
  });

  it("is whoever answers, for processes of an earlier version and their roles alone", () => {
    expect(holdersOf([member("1", ["scheduler"]), member("2", ["api"], "a")]).map(holderText)).toEqual([
      "the account of whoever answers (role scheduler)",
      "a (role api)",
    ]);
  });

  it("is whoever answers with every role where nobody is known to live, as while a recovery is under way", () => {
    const everything = [{ account: undefined, roles: ROLES }];
    expect(holdersOf([])).toEqual(everything);
    expect(holdersOf([member("1", ["recovery"])])).toEqual(everything);
    expect(holderText(everything[0]!)).toBe("the account of whoever answers (all roles)");
  });
});
