import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { adoptionColumns as adopted } from "./adopt.ts";
import { age } from "./age.ts";
import { auditColumns as audit } from "./audit.ts";
import { capacity } from "./capacity.ts";
import * as lists from "./columns.ts";
import { costColumns as cost } from "./cost.ts";
import { freezes } from "./directives.ts";
import { checkColumns as checks } from "./doctor.ts";
import { pools } from "./fleet.ts";
import { evidence, healthColumns as health } from "./health.ts";
import { journalColumns as journal } from "./journal.ts";
import { keyColumns as keys } from "./key-commands.ts";
import { moves } from "./moves.ts";
import { render } from "./output.ts";
import { proposals } from "./proposals.ts";
import { rebalancing } from "./rebalancing.ts";
import { recoveryColumns as recovered } from "./recovery-commands.ts";
import { rollouts, versions } from "./rollouts.ts";
import { type Column, LINE_WIDTH, paragraph, sentences, shortened, wrapped } from "./table.ts";
import { tokenColumns as tokens } from "./token-commands.ts";
import * as tops from "./top.ts";
import { grantColumns as grants } from "./whoami.ts";

const ID = "0192f3a4-9c1d-7abc-8def-0123456789ab";
const WORKSPACE = "team-payments-checkout-production-eu-west";
const INSTANCE = "standard-regulated-eu-12";
const TIME = "2026-11-24T19:17:03.123Z";
const VERSION = "v3.5.10-rc1";
const PERSON = "oncall-platform-engineering@example.com";
const SENTENCE =
  "for the account in environment production-eu, whose API server https://kubernetes.production.eu-west-1.example.com:6443 gives no answer";
const load = { applications: 12_345, clusterEntries: 123, cachedResources: 1_234_567, milliCpu: 12_345, gitPerMinute: 12_345 };

/** Every field that any table reads, as long as it gets in a large fleet. */
const ROW = {
  ...{
    id: ID,
    name: INSTANCE,
    instance: INSTANCE,
    state: "PROVISIONING",
    version: VERSION,
    desiredVersion: "v3.5.11-rc2",
    pool: "regulated",
  },
  ...{
    class: "eu/regulated/private",
    engineCluster: "engines-eu-west-1",
    namespace: WORKSPACE,
    clusterEntries: 123,
    capacity: load,
    load,
    raised: [],
  },
  ...{
    utilisation: 0.987,
    since: TIME,
    controllerMemoryBytes: 2 ** 34,
    reason: SENTENCE,
    applications: 12_345,
    apiCluster: "users-eu-west-1",
  },
  ...{ sync: "OutOfSync", deleting: true, health: "Progressing", revision: "0123456789abcdef0123456789abcdef01234567", subject: INSTANCE },
  ...{ subjectName: `${WORKSPACE}/checkout-gateway-worker`, kind: "AppProject", updatedAt: TIME, message: SENTENCE, createdAt: TIME },
  ...{
    goal: "rebalance",
    moves: Array(12_345).fill(null),
    actor: PERSON,
    appliedAt: TIME,
    approval: ["WORKSPACES", "LOAD"],
    expiresAt: TIME,
  },
  ...{
    workspace: WORKSPACE,
    from: INSTANCE,
    to: "standard-regulated-eu-13",
    phase: "REDIRECTED",
    gapMs: 123_456,
    tookMs: 1_234_567,
    plan: ID,
  },
  ...{ cause: "cannot-compare", text: SENTENCE, at: TIME, signal: "reconciliations-per-minute", value: 123_456, meaning: SENTENCE },
  ...{ series: Array.from({ length: 60 }, (_, index) => index), verdict: "MOVE_REQUESTED", rule: "TARGET_CANNOT_COMPARE", details: {} },
  ...{ holds: false, schedule: "0 18 * * 1-5", seconds: 62 * 3600, wave: 3, waves: Array(5).fill(null), channels: ["stable", "canary"] },
  ...{ defaultOf: ["stable"], frozen: { reason: SENTENCE }, instances: Array(123).fill(INSTANCE), upgrading: Array(12).fill(INSTANCE) },
  ...{ milliCpu: 12_345, cachedObjects: 1_234_567, measuredAt: TIME, part: 12, share: 0.5, recent: { milliCpu: 12_345 }, role: "approver" },
  ...{ key: "production-2026-autumn-encryption-key", isCurrent: true, isGiven: false, credentials: 12_345, ok: false, detail: SENTENCE },
  ...{
    owner: ID,
    upgradesFrom: [VERSION],
    image: "quay.io/argoproj/argocd",
    note: SENTENCE,
    unit: { namespace: WORKSPACE, bucket: 3, owner: ID },
  },
  ...{ units: 12_345, repoUrl: "https://git.example/shop", path: "apps/web", targetRevision: "main", type: "automated" },
  ...{ reconciledAt: TIME, argoName: `${WORKSPACE}-web`, attempts: 3, deadline: TIME, engine: "" },
  ...{ failure: { message: SENTENCE }, errors: [] },
};
const PARTS = [{ instance: INSTANCE, epoch: 12_345, class: "eu/regulated/private" }];

// Each list of columns takes what it names of the row.
const columnsOf = (columns: readonly unknown[]): readonly Column<unknown>[] => columns as readonly Column<unknown>[];
type Case = readonly [string, readonly Column<unknown>[], object?];
const TABLES: readonly Case[] = [
  ["get instances", columnsOf(lists.instanceColumns)],
  ["get workspaces", columnsOf(lists.workspaceColumns), { units: [...PARTS, ...PARTS, ...PARTS] }],
  ["get applications", columnsOf(lists.applications), { name: "checkout-gateway-worker-canary" }],
  [
    "get fleet",
    columnsOf(pools),
    {
      class: { region: "eu-west-1", tier: "regulated", trust: "private", channel: "stable" },
      instances: { min: 100, max: 1000 },
      engineClusters: ["engines-eu-west-1", "engines-eu-west-2"],
    },
  ],
  ["get operations", columnsOf(lists.operations), { state: "In_Progress" }],
  ["get plans", columnsOf(lists.plans)],
  ["moves", columnsOf(moves)],
  [
    "capacity",
    columnsOf(capacity),
    {
      min: 100,
      max: 1000,
      wanted: 1000,
      shortSince: TIME,
      since: TIME,
      spareSince: TIME,
      serving: 999,
      instances: 1000,
      scaling: "auto",
      expected: { soon: 12.3, later: 12.3, withoutOne: 100 },
      raising: {
        instances: [
          { instance: "standard-1000", underWay: true, raised: [{ amount: "controller.memory", declared: "4Gi", given: "6Gi" }] },
        ],
        limited: [{ instance: "standard-1000", amount: "controller.memory", given: "8Gi", why: "MAXIMUM", since: TIME }],
      },
      peaks: [{ name: "end-of-quarter-closing", from: TIME, until: TIME, factor: null, instances: 1000 }],
    },
  ],
  [
    "rebalancing",
    columnsOf(rebalancing),
    {
      ...{ class: "eu/regulated/private", mode: "propose", modeInForce: "propose", fallsBackUntil: TIME, kept: 2, broken: 3 },
      ...{ movesPerHour: 10_000, movesPerDay: 100_000, promises: [{ instance: INSTANCE }, { instance: INSTANCE }] },
    },
  ],
  ["health", columnsOf(health), { state: "overloaded" }],
  ["health <instance>", columnsOf(evidence)],
  ["journal", columnsOf(journal)],
  ["freeze list", columnsOf(freezes), { name: "end-of-quarter-closing-freeze" }],
  ["rollout list", columnsOf(rollouts), { state: "ROLLING_BACK" }],
  ["versions", columnsOf(versions)],
  [
    "cost",
    columnsOf(cost),
    {
      ...{ name: WORKSPACE, of: "unattributed", cpuCoreHours: 123_456, memoryGibHours: 1_234_567, cpuShare: 0.001, cost: 1_234_567 },
      ...{ controllerCpuMs: 1e12, repoServerCpuMs: 1e12 },
    },
  ],
  ["top instances", columnsOf(tops.topInstances)],
  ["top workspaces", columnsOf(tops.topWorkspaces)],
  [
    "token list",
    columnsOf(tokens),
    {
      ...{ name: PERSON, role: "approver", owner: PERSON, state: "revoked", createdBy: PERSON },
      ...{ expiresAt: TIME, lastUsedAt: TIME, createdAt: TIME, revokedAt: TIME },
      scope: { classes: ["eu/regulated/private"], workspaces: [WORKSPACE, "team-payments-*"] },
    },
  ],
  ["whoami", columnsOf(grants), { role: "approver", classes: ["eu/regulated/private"], workspaces: [WORKSPACE, "team-payments-*"] }],
  ["audit", columnsOf(audit)],
  [
    "proposals",
    columnsOf(proposals),
    { needs: [{ path: "egress.certificateAuthorities" }, { path: "deployments.allowedGroups" }], end: { actor: PERSON } },
  ],
  ["keys list", columnsOf(keys)],
  ["doctor", columnsOf(checks), { name: "engine cluster engines-eu-west-1: permissions" }],
  ["adopt", columnsOf(adopted), { name: "checkout-gateway-worker-canary", verdict: "refused" }],
  ["recover-epochs", columnsOf(recovered)],
];

describe("every table", () => {
  it.each(TABLES)("of %s keeps to 80 columns with the names of a large fleet, and tells all of them with -o wide", (...given) => {
    const [, columns, over] = given as unknown as Case;
    const rows = [
      { ...ROW, ...over },
      { ...ROW, ...over },
    ];
    const lines = render(rows, columns, "table").split("\n");
    expect(lines.filter((line) => line.length > LINE_WIDTH)).toEqual([]);
    expect(lines[0]).toMatch(/[A-Z]/);
    const wide = render(rows, columns, "wide").split("\n");
    expect(wide).toHaveLength(1 + rows.length);
    expect(wide.join()).not.toContain("…");
  });

  it("is one of these", () => {
    const folder = new URL(".", import.meta.url);
    const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "table.ts");
    const declared = files.flatMap(
      (name) => readFileSync(new URL(name, folder), "utf8").match(/^(?:export )?const \w+: readonly Column</gm) ?? [],
    );
    expect(TABLES).toHaveLength(declared.length);
  });

  it("shows names whole where there is room", () => {
    const row = { ...ROW, name: "standard-1", version: "v3.5.0", desiredVersion: "v3.5.0", state: "ACTIVE" };
    expect(render([row], columnsOf(lists.instanceColumns), "table")).toContain("standard-1  ACTIVE");
  });

  it("wraps a sentence beside its row where there is room for words, else below it", () => {
    const columns: readonly Column<{ readonly name: string }>[] = [
      { title: "NAME", value: ({ name }) => name },
      { title: "WHY", value: () => "one two three four five six seven eight nine ten eleven twelve thirteen", fit: "text" },
    ];
    expect(render([{ name: "a".repeat(30) }], columns, "table").split("\n")).toEqual([
      `NAME${" ".repeat(28)}WHY`,
      `${"a".repeat(30)}  one two three four five six seven eight nine ten`,
      `${" ".repeat(32)}eleven twelve thirteen`,
    ]);
    expect(render([{ name: "a".repeat(60) }], columns, "table").split("\n")).toEqual([
      "NAME",
      "a".repeat(60),
      "    one two three four five six seven eight nine ten eleven twelve thirteen",
    ]);
  });
});

describe("what does not fit", () => {
  it.each([
    ["shop", 10, "shop"],
    ["shop-of-many-words", 11, "shop-…words"],
    ["shop-of-many-words", 10, "shop-…ords"],
  ])("of %s in %i columns is %s", (text, width, expected) => expect(shortened(text, width)).toBe(expected));

  it("is wrapped between words, commands stay in one piece, and what is longer than a line is cut", () => {
    expect(wrapped("ask `argosy plan` again", 13)).toEqual(["ask", "`argosy plan`", "again"]);
    expect(wrapped("abcdefghij k", 4)).toEqual(["abcd", "efgh", "ij k"]);
    expect(paragraph(`  ${"word ".repeat(20).trim()}`).split("\n")).toEqual([
      `  ${"word ".repeat(15).trim()}`,
      `    ${"word ".repeat(5).trim()}`,
    ]);
  });

  it("is wrapped in each line of a text, but never above a pointer", () => {
    const long = "word ".repeat(20).trim();
    expect(sentences(`${long}\n${long}\n  ^^^^\n${long}`).split("\n")).toEqual([
      ...["word ".repeat(15).trim(), `  ${"word ".repeat(5).trim()}`],
      ...[long, "  ^^^^"],
      ...["word ".repeat(15).trim(), `  ${"word ".repeat(5).trim()}`],
    ]);
  });

  it.each([
    [0, "0s"],
    [119, "119s"],
    [130, "2m10s"],
    [3_600, "60m"],
    [18_180, "5h3m"],
    [100_000, "27h"],
    [450_000, "5d5h"],
    [35_600_000, "412d"],
  ])("of an age of %i s is %s", (seconds, text) => {
    const now = millis(Date.parse(TIME));
    expect(age(new Date(now - seconds * 1000).toISOString(), now)).toBe(text);
  });
});
