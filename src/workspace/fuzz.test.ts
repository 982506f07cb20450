import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ObservedResource } from "../domain/user-resource.ts";
import { kindSchemas } from "./api/schema.ts";
import { parseDeployment } from "./deployment/parse-deployment.ts";
import { planIntent } from "./deployment/plan-intent.ts";
import { environmentStatus } from "./environment/environment-status.ts";
import type { ClusterProbe, ProbeTarget } from "./environment/port.ts";
import { createExamination } from "./environment/try-credential.ts";
import { parseNamespace, parseResource, parseSecret } from "./parse-resource.ts";
import { statusToWrite } from "./repository-credential/credential-status.ts";
import { type CredentialOutcome, OUTCOMES } from "./repository-credential/outcome.ts";
import { planReview, type ReviewFacts } from "./repository-credential/plan-review.ts";
import { composeStatus, whyPublish } from "./status/deployment-status.ts";
import { parseRun } from "./sync-run/parse-run.ts";
import { planRun } from "./sync-run/plan-run.ts";
import { composeRun, isRunShown } from "./sync-run/run-status.ts";
import { aRunRecord } from "./sync-run/testing/builders.ts";
import { aNamespace, anEngineStatus, aPolicy, aRecord, aResource, aSpec } from "./testing/builders.ts";
import { whyUnfit } from "./testing/fuzz/fitness.ts";
import { anyEnvironmentSecret, anyRepositorySecret } from "./testing/fuzz/secrets.ts";
import { fuzzSeed } from "./testing/fuzz/seed.ts";
import { anySpec } from "./testing/fuzz/specs.ts";
import { hostileText, hostileValue, INSIDE_HOSTS, MARK } from "./testing/fuzz/texts.ts";

const seed = fuzzSeed("resources at random");
const NOW = millis(Date.UTC(2026, 0, 1));
const namespace = aNamespace();
const policy = aPolicy();
const schemas = kindSchemas();
const API_URL = "https://api.prod.example:6443";

/** What somebody put into the resource beside its spec. */
const surroundings = fc.record({
  refreshedAt: fc.oneof(fc.constant(""), hostileText),
  isPaused: fc.boolean(),
  isDeleting: fc.boolean(),
});

/** What the resource looks like after a status was written on it. */
const shownOn = (resource: ObservedResource, status: object): ObservedResource => {
  const { name, uid, generation } = resource;
  const stored: unknown = JSON.parse(JSON.stringify({ metadata: { name, namespace: "jane", uid, generation }, status }));
  const { conditions = [], observedGeneration } = parseResource(stored) ?? {};
  return { ...resource, conditions, observedGeneration };
};

/** The rarest, credentials that are taken, are 200 of 8,000 on average, give or take 14. */
const LEAST_OF_EACH = 100;

/** That both ways were gone: a generator that only makes rubbish, or none, shows nothing. */
const ways = () => {
  const counts = { taken: 0, refused: 0 };
  return {
    count(isTaken: boolean): void {
      counts[isTaken ? "taken" : "refused"] += 1;
    },
    expectBoth(): void {
      expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(LEAST_OF_EACH);
    },
  };
};

const isInside = (host: string): boolean =>
  INSIDE_HOSTS.some((inside) => host.toLowerCase().replace(/\.$/, "") === inside.toLowerCase().replace(/\.$/, ""));

describe(`of 20,000 resources of all kinds, generated from ${seed}, with secrets sown in them (P9),`, { timeout: 600_000 }, () => {
  it("each deployment is refused with the field that is wrong, or taken with nothing in it that leads elsewhere", () => {
    const { count, expectBoth } = ways();
    const engineStatus = fc.option(
      fc.tuple(hostileText, hostileText).map(([message, type]) =>
        anEngineStatus({
          conditions: [
            { type: "SyncError", message },
            { type, message },
          ],
          health: { status: "Degraded", message },
        }),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(anySpec("deployment"), surroundings, engineStatus, (spec, over, engine) => {
        const resource = aResource({ ...over, spec });
        const parsed = parseDeployment(resource, policy.egress);
        count(parsed.ok);
        if (parsed.ok) expectSafe(parsed.spec.source);
        else expect(parsed.problems.map(({ path }) => path).join()).toMatch(/^spec/);
        const facts = { resource, siblings: [resource], isAdmitted: () => false, mayHave: 1, policy };
        const plan = planIntent({ ...facts, namespace, knownUids: [] });
        expect(plan.record !== undefined).toBe(parsed.ok && !over.isDeleting && !over.isPaused);
        for (const record of [undefined, aRecord(engine)]) {
          const composed = composeStatus({ ...facts, record }, NOW);
          expect(whyUnfit(schemas.deployment.status, composed.status)).toEqual([]);
          const shown = shownOn(resource, composed.status);
          const again = composeStatus({ ...facts, resource: shown, record }, NOW);
          expect(whyPublish({ resource: shown, composed: again, publishedHash: composed.hash })).toBe(undefined);
        }
        expect(parseDeployment(aResource({ spec: aSpec() }), policy.egress).ok).toBe(true);
      }),
      { seed, numRuns: 8000 },
    );
    expectBoth();
  });

  it("each run is refused with the field that is wrong, or taken", () => {
    const { count, expectBoth } = ways();
    fc.assert(
      fc.property(anySpec("syncRun"), surroundings, hostileText, (spec, over, message) => {
        const resource = aResource({ ...over, uid: "run-1", spec });
        const parsed = parseRun(resource);
        count(parsed.ok);
        if (parsed.ok) expectPlain(parsed.request.revision);
        else expect(parsed.problems.map(({ path }) => path).join()).toMatch(/^spec/);
        const plan = planRun({ resource, namespace, knownUids: [], policy });
        expect(plan.record !== undefined).toBe(parsed.ok && !over.isDeleting && !over.isPaused);
        const records = [undefined, aRunRecord({ phase: "Failed", message }), aRunRecord({ phase: "Running", message })];
        for (const record of [...records, aRunRecord({}, { application: undefined })]) {
          const facts = { record, hasDeployment: false, hidden: policy.hidden, kinds: {}, quota: undefined };
          const composed = composeRun({ ...facts, resource }, NOW);
          expect(whyUnfit(schemas.syncRun.status, composed.status)).toEqual([]);
          const shown = shownOn(resource, composed.status);
          expect(isRunShown(shown, composeRun({ ...facts, resource: shown }, NOW))).toBe(true);
        }
        expect(parseRun({ spec: { gitopsDeploymentName: "guestbook" } }).ok).toBe(true);
      }),
      { seed, numRuns: 4000 },
    );
    expectBoth();
  });

  it("each environment is refused with a reason, or tried where it may be, with a credential that is one", async () => {
    const { count, expectBoth } = ways();
    const spec = { apiURL: API_URL, credentialsSecret: "s", allowInsecureSkipTLSVerify: false };
    const anyEnvironment = fc.oneof({ weight: 2, arbitrary: anySpec("environment") }, { weight: 1, arbitrary: fc.constant(spec) });
    await fc.assert(
      fc.asyncProperty(anyEnvironment, anyEnvironmentSecret(API_URL), async (each, secret) => {
        const asked: ProbeTarget[] = [];
        const probe: ClusterProbe = {
          async probe(target) {
            asked.push(target);
            return { kind: "accepted" };
          },
        };
        const examine = createExamination({ secrets: { read: async () => secret }, probe });
        const resource = aResource({ spec: each });
        const { finding, works } = await examine(resource, policy.egress, new AbortController().signal);
        expect(works !== undefined).toBe(finding.kind === "ready");
        count(works !== undefined);
        for (const { server, token } of asked) {
          expect(isInside(new URL(server).hostname)).toBe(false);
          expect(token ?? "").toMatch(/^[\u0021-\u007e]*$/);
        }
        const status = environmentStatus(resource, finding, NOW);
        expect(whyUnfit(schemas.environment.status, status)).toEqual([]);
        expect(environmentStatus(shownOn(resource, status ?? {}), finding, NOW)).toBe(undefined);
      }),
      { seed, numRuns: 4000 },
    );
    expectBoth();
  });

  it("each repository credential is refused with a reason, or probed where it may be, with a secret that is one", () => {
    const { count, expectBoth } = ways();
    const anyCredential = fc.oneof(
      { weight: 2, arbitrary: anySpec("credential") },
      {
        weight: 1,
        arbitrary: fc.constantFrom("https://git.example/x", "git@git.example:x").map((repository) => ({ repository, secret: "s" })),
      },
    );
    fc.assert(
      fc.property(anyCredential, surroundings, anyRepositorySecret(), fc.constantFrom(...OUTCOMES), (spec, over, secret, outcome) => {
        const resource = aResource({ ...over, spec });
        const facts: ReviewFacts = {
          resource,
          namespace,
          siblings: [resource],
          policy,
          recorded: [],
          secret,
          secretVersion: "1",
          lastObservation: undefined,
        };
        for (const each of [facts, observedAt(facts, outcome)]) {
          const plan = planReview(each);
          count(plan.wanted !== undefined);
          if (plan.wanted !== undefined) expectSafe({ repoUrl: plan.wanted.address.url });
          const status = statusToWrite(resource, plan, NOW);
          if (status === undefined) continue;
          expect(whyUnfit(schemas.credential.status, status)).toEqual([]);
          expect(statusToWrite(shownOn(resource, status), plan, NOW)).toBe(undefined);
        }
      }),
      { seed, numRuns: 4000 },
    );
    expectBoth();
  });

  it("nothing that an API server could send is stumbled over", () => {
    const metadata = fc.record({
      name: hostileValue,
      uid: hostileValue,
      annotations: hostileValue,
      finalizers: hostileValue,
      labels: hostileValue,
    });
    const raw = fc.oneof(
      hostileValue,
      fc.record({ metadata, spec: hostileValue, status: hostileValue, data: hostileValue, type: hostileValue }),
    );
    fc.assert(
      fc.property(raw, (object) => {
        for (const parse of [parseResource, parseNamespace, parseSecret]) expect(() => parse(object)).not.toThrow();
      }),
      { seed, numRuns: 2000 },
    );
  });
});

function observedAt(facts: ReviewFacts, outcome: CredentialOutcome): ReviewFacts {
  const { wanted } = planReview(facts);
  return { ...facts, lastObservation: wanted && { stamp: wanted.stamp, outcome } };
}

function expectSafe({
  repoUrl,
  path = "",
  targetRevision = "",
}: {
  readonly repoUrl: string;
  readonly path?: string;
  readonly targetRevision?: string;
}): void {
  expect(repoUrl).toMatch(/^(https|ssh):\/\/[^\s]+$|^[^-@/:\s][^@/:\s]*@[^-@/\s][^@/\s]*:.+$/i);
  expect(repoUrl.length).toBeLessThanOrEqual(2048);
  expect(repoUrl).not.toContain(MARK);
  const host = URL.canParse(repoUrl) ? new URL(repoUrl).hostname : (/@(\[[^\]]*\]|[^:]*):/.exec(repoUrl)?.[1] ?? "");
  expect(isInside(host)).toBe(false);
  expectPlain(repoUrl);
  expectPlain(targetRevision);
  expectPlain(`./${path}`);
  const up = path.split("/").reduce(({ depth, lowest }, part) => step(depth, lowest, part), { depth: 0, lowest: 0 });
  expect(up.lowest).toBe(0);
}

function step(depth: number, lowest: number, part: string): { readonly depth: number; readonly lowest: number } {
  const next = part === ".." ? depth - 1 : part === "" || part === "." ? depth : depth + 1;
  return { depth: next, lowest: Math.min(lowest, next) };
}

/** One line, and no option. */
function expectPlain(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(text).toMatch(/^(?!-)[^\u0000-\u001f\u007f]*$/);
}
