import { expect, it } from "vitest";
import { csvOf } from "./csv.ts";

it("writes a line of names and a line for each row", () => {
  const rows = [
    { name: "team-a", of: "workspace", hours: 0.125, cost: null },
    { name: null, of: "base", hours: 12, cost: 1e-7 },
  ];
  expect(csvOf(rows, ["name", "of", "hours", "cost"])).toBe("name,of,hours,cost\r\nteam-a,workspace,0.125,\r\n,base,12,1e-7");
  expect(csvOf([], ["name"])).toBe("name");
});

it.each([
  ["a,b", '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["=1+1", "'=1+1"],
  ["-2", "'-2"],
  ["@x", "'@x"],
  ["a=b", "a=b"],
])("writes %j as one text that no spreadsheet takes for a formula", (text, cell) =>
  expect(csvOf([{ text }], ["text"])).toBe(`text\r\n${cell}`),
);
