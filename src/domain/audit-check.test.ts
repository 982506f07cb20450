import { describe, expect, it } from "vitest";
import {
  type AuditEntry,
  type AuditLine,
  auditHash,
  auditLine,
  auditText,
  boundDetails,
  forgottenEntry,
  LONGEST_DETAILS,
  NO_RECORD,
} from "./audit.ts";
import { createAuditCheck } from "./audit-check.ts";
import { millis } from "./clock.ts";
import { sha256 } from "./hash.ts";

const ENTRY: AuditEntry = {
  ...{ actor: "ada", via: "rest", role: "operator", remote: "10.0.0.1", action: "pinWorkspace", target: "/v1/workspaces/shop/pin" },
  ...{ outcome: "ok", code: "", count: 1, answers: undefined, details: { body: { reason: "near its data" } } },
};

/** A trail of these entries, as lines of an export. */
function chain(
  entries: readonly Partial<AuditEntry>[],
  from: { readonly seq: number; readonly hash: string } = { seq: 0, hash: NO_RECORD },
) {
  const lines: AuditLine[] = [];
  for (const [index, entry] of entries.entries()) {
    const seq = from.seq + index + 1;
    const previous = lines.at(-1)?.hash ?? from.hash;
    const line = auditLine({ ...ENTRY, ...entry, seq, at: millis(seq * 1000), previous, hash: "" });
    lines.push({ ...line, hash: auditHash(line) });
  }
  return lines;
}
const six = chain(Array.from({ length: 6 }, (_, index) => ({ actor: `a-${index + 1}` })));
const rehashed = (line: AuditLine, over: Partial<AuditLine>): AuditLine => {
  const changed = { ...line, ...over };
  return { ...changed, hash: auditHash(changed) };
};
const reportOf = (lines: readonly (AuditLine | string)[], fromHash?: string) => {
  const check = createAuditCheck(fromHash);
  for (const line of lines) check.add(typeof line === "string" ? line : auditText(line));
  return check.report();
};
const at = (seq: number): AuditLine => six[seq - 1]!;
const without = (...gone: readonly number[]) => six.filter(({ seq }) => !gone.includes(seq));

describe("the check of an audit trail", () => {
  it("finds nothing wrong with one that is whole, and says what it ended with", () => {
    expect(reportOf(six)).toEqual({
      ...{ ok: true, records: 6, first: 1, last: 6, lastHash: at(6).hash, unanswered: [], forgotten: 0, fault: null },
    });
    expect(reportOf([])).toMatchObject({ ok: true, records: 0, lastHash: null });
  });

  it.each<readonly [what: string, lines: readonly (AuditLine | string)[], code: string, seq: number | null, line: number | null]>([
    ["a changed line", six.map((line) => (line.seq === 4 ? { ...line, actor: "nobody" } : line)), "CHANGED", 4, 4],
    ["changed details", six.map((line) => (line.seq === 2 ? { ...line, details: {} } : line)), "CHANGED", 2, 2],
    ["a changed time", six.map((line) => (line.seq === 2 ? { ...line, at: "2026-01-01T00:00:00.000Z" } : line)), "CHANGED", 2, 2],
    [
      "a changed line with a hash that fits",
      six.map((line) => (line.seq === 4 ? rehashed(line, { actor: "nobody" }) : line)),
      "REWRITTEN",
      5,
      5,
    ],
    ["a removed line", without(3), "REMOVED", 3, 3],
    ["several removed lines", without(3, 4), "REMOVED", 3, 3],
    ["removed lines at the beginning", without(1, 2), "REMOVED", 1, 1],
    ["two lines in another order", [at(1), at(3), at(2), at(4), at(5), at(6)], "REORDERED", 2, 3],
    ["all lines in another order", six.toReversed(), "REORDERED", 5, 2],
    ["a line that was put in after its twin", [...six.slice(0, 3), at(3), ...six.slice(3)], "INSERTED", 3, 4],
    [
      "a line that was put in and fits the one before it",
      [...six.slice(0, 3), rehashed(at(4), { actor: "x" }), ...six.slice(3)],
      "INSERTED",
      4,
      5,
    ],
    [
      "a line that was put in with a number of its own",
      [...six.slice(0, 3), rehashed(at(4), { seq: 9 }), ...six.slice(3)],
      "REORDERED",
      4,
      5,
    ],
    ["a line that is no JSON", [...six.slice(0, 3), "{", ...six.slice(3)], "UNREADABLE", 4, 4],
    ["a line with one more field", [at(1), `${auditText(at(2)).slice(0, -1)},"x":1}`], "UNREADABLE", 2, 2],
    ["a name that stands twice", [at(1), auditText(at(2)).replace("{", '{"actor":"nobody",')], "CHANGED", 2, 2],
    ["a first record that goes on from something", chain([{}], { seq: 0, hash: sha256("x") }), "REMOVED", 1, 1],
  ])("finds %s", (_, lines, ...[code, seq, line]) => {
    expect(reportOf(lines)).toMatchObject({ ok: false, lastHash: null, fault: { code, seq, line } });
  });

  it("says in a sentence which records are missing, and which line stands where it should not", () => {
    expect(reportOf(without(3, 4)).fault?.text).toBe("records 3 to 4 are missing: line 3 is record 5");
    expect(reportOf([at(1), at(3), at(2)]).fault?.text).toBe(
      "record 2 stands in line 3, after record 3: lines were put into another order",
    );
    expect(reportOf(six.map((line) => (line.seq === 4 ? { ...line, actor: "nobody" } : line))).fault?.text).toContain(
      "record 4 was changed",
    );
  });

  it("finds a trail that was written anew, or cut, by a hash that somebody kept", () => {
    const anew = chain(Array.from({ length: 6 }, (_, index) => ({ actor: `b-${index + 1}` })));
    expect(reportOf(anew)).toMatchObject({ ok: true });
    expect(reportOf(anew, at(4).hash)).toMatchObject({ ok: false, fault: { code: "REWRITTEN", seq: null } });
    expect(reportOf(six.slice(0, 3))).toMatchObject({ ok: true });
    expect(reportOf(six.slice(0, 3), at(4).hash)).toMatchObject({ ok: false, fault: { code: "REWRITTEN" } });
    expect(reportOf(six, at(4).hash)).toMatchObject({ ok: true });
  });

  it("takes an export that begins after the record whose hash somebody kept", () => {
    expect(reportOf(six.slice(3), at(3).hash)).toMatchObject({ ok: true, first: 4 });
    expect(reportOf(six.slice(3), at(2).hash)).toMatchObject({ ok: false, fault: { code: "REMOVED", seq: 1 } });
  });

  it("takes a trail whose beginning retention has forgotten, and no other one", () => {
    const rest = six.slice(3);
    const said = (last: AuditLine, over: Partial<AuditEntry> = {}) => [...rest, ...chain([{ ...forgottenEntry(last), ...over }], at(6))];
    expect(reportOf(said(at(3)))).toMatchObject({ ok: true, first: 4, forgotten: 3 });
    expect(reportOf(said(at(2)))).toMatchObject({ ok: false, fault: { code: "REMOVED", seq: 1 } });
    expect(reportOf(said({ ...at(3), hash: sha256("x") }))).toMatchObject({ ok: false });
    expect(reportOf(said(at(3), { via: "rest" }))).toMatchObject({ ok: false });
  });

  it("names what was asked for and has no answer", () => {
    const asked = { outcome: "asked" } as const;
    expect(reportOf(chain([asked, asked, { answers: 1 }, { outcome: "refused" }, asked]))).toMatchObject({ ok: true, unanswered: [2, 5] });
  });
});

describe("the text that is hashed", () => {
  it("has sorted names and no spaces, numbers as names among them", () => {
    expect(auditText({ b: [1, { z: null, a: "ü\n" }], 10: 1, 9: 2, skipped: undefined })).toBe(
      '{"10":1,"9":2,"b":[1,{"a":"ü\\n","z":null}]}',
    );
  });

  it("is as docs/audit.md has it, so that others can check it", () => {
    const [line] = chain([{ details: {} }]);
    expect(auditText(line)).toBe(
      '{"action":"pinWorkspace","actor":"ada","answers":null,"at":"1970-01-01T00:00:01.000Z","code":"","count":1,"details":{},"hash":"cc","outcome":"ok","previous":"0000000000000000000000000000000000000000000000000000000000000000","remote":"10.0.0.1","role":"operator","seq":1,"target":"/v1/workspaces/shop/pin","via":"rest"}'.replace(
        "cc",
        line!.hash,
      ),
    );
    expect(line!.hash).toBe(sha256(auditText(line).replace(`"hash":"${line!.hash}",`, "")));
  });
});

describe("details that are too long", () => {
  it("lose the ends of lists, and what is no list whole, and say what they were", () => {
    const details = { list: Array.from({ length: 9_000 }, () => "some text"), text: "x".repeat(LONGEST_DETAILS), small: 1 };
    const cut = boundDetails(details);
    expect(auditText(cut).length).toBeLessThanOrEqual(LONGEST_DETAILS);
    expect(cut).toMatchObject({ small: 1, cut: { characters: auditText(details).length, sha256: sha256(auditText(details)) } });
    expect(cut["text"]).toBeUndefined();
    expect((cut["list"] as readonly unknown[]).length).toBeGreaterThan(4_000);
    expect(boundDetails({ small: 1 })).toEqual({ small: 1 });
  });
});
