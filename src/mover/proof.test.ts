import { expect, it } from "vitest";
import { type Answer, askAgainMs, fenceTimeMs, isProven, judgeAnswer, NO_PROOF, nextProof, summary, type TrialAnswer } from "./proof.ts";

const FENCE_MS = 2_000;
const BOTH = [
  { endpoint: "a", fenceMs: FENCE_MS },
  { endpoint: "b", fenceMs: FENCE_MS },
];
type Round = readonly [ms: number, a: Answer, b: Answer];
/** Answers of the endpoints `a` and `b` at moments. */
const after = (...rounds: readonly Round[]) =>
  rounds.reduce(
    (proof, [ms, a, b]) =>
      nextProof(
        proof,
        [
          { endpoint: "a", answer: a },
          { endpoint: "b", answer: b },
        ],
        ms,
      ),
    NO_PROOF,
  );
const proven = (...rounds: readonly Round[]) => isProven(after(...rounds), BOTH);

it("takes three refusals of every endpoint over the fence time for proof, and no fewer", () => {
  expect(proven([0, "refused", "refused"], [1000, "refused", "refused"], [2000, "refused", "refused"])).toBe(true);
  expect(proven([0, "refused", "refused"], [1000, "refused", "refused"], [1999, "refused", "refused"])).toBe(false);
  expect(proven([0, "refused", "refused"], [9000, "refused", "refused"])).toBe(false);
});

it("takes more where several may answer: each question goes to one of them", () => {
  const [fenceMs, everyMs] = [fenceTimeMs(false), 250];
  const shared = [{ endpoint: "a", fenceMs, answer: "refused" as const, environment: undefined }];
  const ask = (times: number, apartMs: number) =>
    Array.from({ length: times }).reduce<typeof NO_PROOF>(
      (proof, _, index) => nextProof(proof, shared, Math.ceil(index * apartMs)),
      NO_PROOF,
    );
  expect(isProven(ask(4, fenceMs / 3), shared)).toBe(false);
  expect(isProven(ask(14, fenceMs / 13), shared)).toBe(false);
  expect(isProven(ask(15, fenceMs / 14), shared)).toBe(true);
  expect(isProven(ask(60, everyMs), shared)).toBe(false);
  expect(isProven(ask(61, everyMs), shared)).toBe(true);
  expect(askAgainMs(ask(2, everyMs), shared, { nowMs: everyMs, sinceMs: 5_000 })).toBe(everyMs);
});

it("does not take silence for a refusal, and counts an endpoint anew after it answers", () => {
  expect(proven([0, "refused", "silent"], [1000, "refused", "silent"], [60_000, "refused", "silent"])).toBe(false);
  expect(proven([0, "refused", "refused"], [1000, "refused", "silent"], [2000, "refused", "refused"], [3000, "refused", "refused"])).toBe(
    false,
  );
  expect(isProven(NO_PROOF, [])).toBe(false);
});

it("forgets all refusals of an endpoint that allows once", () => {
  expect(proven([0, "refused", "refused"], [1000, "allowed", "refused"], [2000, "refused", "refused"])).toBe(false);
});

const USER = "system:serviceaccount:argosy-accounts:u-1";
const CANNOT = `configmaps is forbidden: User "${USER}" cannot create resource "configmaps" in API group "" in the namespace "team-a"`;

it.each<[string, boolean | undefined, TrialAnswer, Answer]>([
  ["the authoriser's 403 and no right", false, { status: 403, message: CANNOT }, "refused"],
  ["a quota's 403", false, { status: 403, message: 'configmaps "x" is forbidden: exceeded quota: small' }, "silent"],
  ["an admission's 403 that quotes another user", false, { status: 403, message: 'User "somebody" cannot pass' }, "silent"],
  [
    "a right whose use is refused by a quota",
    true,
    { status: 403, message: 'configmaps "x" is forbidden: exceeded quota: small' },
    "allowed",
  ],
  ["a right that works", true, { status: 201, message: "" }, "allowed"],
  ["a right, and the authoriser's 403: a cache is behind", true, { status: 403, message: CANNOT }, "silent"],
  ["no right and a write that works: a cache is behind", false, { status: 201, message: "" }, "silent"],
  ["a token that is not accepted", true, { status: 401, message: "Unauthorized" }, "silent"],
  ["no answer to the review", undefined, { status: 403, message: CANNOT }, "silent"],
  ["no answer to the trial", false, { status: undefined, message: "" }, "silent"],
])("reads %s", (_what, isAllowed, trial, answer) => {
  expect(judgeAnswer(isAllowed, trial, USER)).toBe(answer);
});

it("watches each endpoint for its own fence time", () => {
  const rounds = Array.from({ length: 15 }, (_, second): Round => [second * 1_000, "refused", "refused"]);
  const longer = [
    { endpoint: "a", fenceMs: FENCE_MS },
    { endpoint: "b", fenceMs: 15_000 },
  ];
  expect(isProven(after(...rounds), longer)).toBe(false);
  expect(isProven(after(...rounds, [15_000, "refused", "refused"]), longer)).toBe(true);
});

const at = (environment: string | undefined, ...answers: readonly Answer[]) =>
  answers.map((answer, index) => ({ endpoint: `${environment} ${index}`, answer, environment, fenceMs: FENCE_MS }));

it.each([
  ["source", [at(undefined, "refused"), at("prod", "refused", "refused")], "refused", undefined],
  ["source", [at(undefined, "refused"), at("prod", "refused"), at("stage", "allowed")], "allowed", "stage"],
  ["source", [at("prod", "silent"), at("stage", "allowed")], "allowed", "stage"],
  ["source", [at(undefined, "refused"), at("prod", "silent")], "silent", "prod"],
  ["source", [at("prod", "refused", "allowed")], "silent", "prod"],
  ["target", [at(undefined, "allowed"), at("prod", "allowed")], "allowed", undefined],
  ["target", [at(undefined, "allowed"), at("prod", "refused")], "refused", "prod"],
  ["target", [at(undefined, "allowed"), at("prod", "silent")], "silent", "prod"],
  ["source", [], "silent", undefined],
] as const)("says of the %s what stands in its way, and where: %j", (whom, answers, answer, askedAt) => {
  expect(summary(whom, answers.flat())).toEqual({ answer, askedAt });
});

it("asks again some times within the fence time and when it is over, and soon where nobody refuses yet", () => {
  const placed = (environment?: string) => BOTH.map((each) => ({ ...each, answer: "refused" as const, environment }));
  const refused = after([1_000, "refused", "refused"]);
  const ask = (nowMs: number, proof = refused, sinceMs = 100) => askAgainMs(proof, placed(), { nowMs, sinceMs });
  expect(ask(1_000)).toBeCloseTo(FENCE_MS / 3);
  expect(ask(2_500)).toBe(500);
  expect(ask(9_000)).toBe(ask(1_000, NO_PROOF));
  expect(ask(1_000, after([1_000, "refused", "silent"]))).toBeLessThan(ask(1_000, NO_PROOF, 5_000));
  expect(askAgainMs(refused, [], { nowMs: 0, sinceMs: 0 })).toBe(ask(1_000, NO_PROOF));
  expect(askAgainMs(refused, placed("prod"), { nowMs: 1_000, sinceMs: 0 })).toBeGreaterThan(ask(1_000));
});
