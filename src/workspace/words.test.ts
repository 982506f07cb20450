import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { USER_KINDS } from "./api/names.ts";
import { REASONS } from "./api/reasons.ts";
import type { WordsCase } from "./testing/words/case.ts";
import { credentialWords } from "./testing/words/credential.ts";
import { deploymentUnsaid, deploymentWords } from "./testing/words/deployment.ts";
import { environmentUnsaid, environmentWords } from "./testing/words/environment.ts";
import { syncRunWords } from "./testing/words/sync-run.ts";

const CASES: readonly WordsCase[] = [...deploymentWords, ...syncRunWords, ...environmentWords, ...credentialWords];
const PAGE = new URL("../../docs/compatibility.md", import.meta.url);
const [BEGIN, END] = ["<!-- written by src/workspace/words.test.ts -->", "<!-- until here -->"];
const KINDS = Object.keys(REASONS) as readonly (keyof typeof REASONS)[];

describe("what users read", () => {
  it.each(CASES.map((each) => [USER_KINDS[each.kind].kind, each.condition, each.message, each] as const))("%s %s: %s", async (...row) => {
    const { condition, message, said } = row[3];
    const conditions = await said();
    const found = conditions.find(({ type, status, reason = "" }) => `${type}=${status}/${reason}` === condition);
    expect(found?.message, JSON.stringify(conditions)).toBe(message);
  });

  it.each(KINDS)("of a %s has a case for each reason, and no reason that nobody knows", (kind) => {
    const reasons = CASES.filter((each) => each.kind === kind).map(({ condition }) => condition.split("/")[1] ?? "");
    const known: readonly string[] = [...REASONS[kind], "", "SyncErrorResolved"];
    expect(REASONS[kind].filter((reason) => !reasons.includes(reason))).toEqual([]);
    expect(reasons.filter((reason) => !known.includes(reason))).toEqual([]);
  });

  it("is what the page on compatibility lists", () => {
    const page = readFileSync(PAGE, "utf8");
    const [before = "", rest = ""] = page.split(BEGIN);
    const wanted = `${before}${BEGIN}\n\n${table()}\n\n${END}${rest.split(END)[1] ?? ""}`;
    if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) writeFileSync(PAGE, wanted);
    expect(readFileSync(PAGE, "utf8")).toBe(wanted);
  });

  it.each([
    ["deployment", "gitopsdeployment.md"],
    ["syncRun", "gitopsdeploymentsyncrun.md"],
    ["environment", "gitopsdeploymentmanagedenvironment.md"],
    ["credential", "gitopsdeploymentrepositorycredential.md"],
  ] as const)("has, for each reason of a %s, something to do about it in %s", (kind, file) => {
    const page = readFileSync(new URL(`../../docs/users/${file}`, import.meta.url), "utf8");
    const explained = page
      .split("\n")
      .flatMap((line) => (line.startsWith("|") ? [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)] : []));
    const names = new Set(explained.map(([, name]) => name));
    expect(REASONS[kind].filter((reason) => !names.has(reason))).toEqual([]);
  });
});

function table(): string {
  const cell = (text: string): string => (text === "" ? "–" : text.replaceAll("|", "\\|"));
  const code = (text: string): string => (text === "" ? "–" : `\`${cell(text)}\``);
  const rows = KINDS.flatMap((kind) =>
    CASES.filter((each) => each.kind === kind).map(
      ({ condition, message, compared, why }) =>
        `| ${USER_KINDS[kind].kind.replace("GitOpsDeployment", "…")} | ${code(condition)} | ${code(message)} | ${compared} | ${cell(why)} |`,
    ),
  );
  const unsaid = [...deploymentUnsaid, ...environmentUnsaid].map(
    ({ kind, words, why }) => `| ${USER_KINDS[kind].kind.replace("GitOpsDeployment", "…")} | ${code(words)} | ${why} |`,
  );
  return [
    "| Kind | Condition | Message | Compared | |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    "Never said here:",
    "",
    "| Kind | Reason or message | Why |",
    "|---|---|---|",
    ...unsaid,
  ].join("\n");
}
