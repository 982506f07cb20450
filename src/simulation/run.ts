import type { MovePhase } from "../domain/move.ts";
import { MAY_LAND_MS } from "../reconciler/apply-object.ts";
import { nextPartsStep } from "../scheduler/split/next-parts-step.ts";
import type { PartRules } from "../store/adapters/memory/part-rules.ts";
import { oneAuthority, ownerBindingsNameOwners, ownersWriteAlone } from "./checkers/authority.ts";
import { type Checker, followHistory, type Property, type Violation } from "./checkers/checker.ts";
import { nothingComesBack, nothingWantedIsDeleted } from "./checkers/deletions.ts";
import { epochsGrow } from "./checkers/epochs.ts";
import { keptUntilGone } from "./checkers/held.ts";
import {
  copiesAreIdle,
  copiesKnowNoFailure,
  nothingIsCutOff,
  ownersKeepTheirs,
  requestsAreKept,
  rightSyncsGoOn,
  unfinished,
} from "./checkers/moves.ts";
import { quietAtRest } from "./checkers/rest.ts";
import { disagreements, stale } from "./checkers/settled.ts";
import type { Breaker } from "./fleet/argosy.ts";
import { type Fleet, startFleet } from "./fleet/fleet.ts";
import { createLabels } from "./fleet/labels.ts";
import { createMovers } from "./fleet/movers.ts";
import { createPartings } from "./fleet/partings.ts";
import { photograph } from "./fleet/photograph.ts";
import { planTroubles } from "./fleet/troubles.ts";
import { createUsers } from "./fleet/users.ts";
import { createHistory, type Happening, type History, type Photograph } from "./history.ts";
import { drawScenario } from "./scenarios/draw.ts";
import type { Scenario } from "./scenarios/schema.ts";
import { type CallMade, createFailpoints, type Failpoint } from "./world/failpoints.ts";
import { createNetwork } from "./world/network.ts";
import { createWorld } from "./world/world.ts";

export interface RunOptions {
  readonly scenario: Scenario;
  readonly seed: string | number;
  /** Calls to break, besides those that the scenario's rates break. */
  readonly failpoints?: readonly Failpoint[];
  /** Called with every call as it is made. */
  readonly onCall?: (call: CallMade) => void;
  /** Called with each phase that a move goes into. */
  readonly onMoved?: (phase: MovePhase) => void;
  /** Called with everything that happens. */
  readonly onHappening?: (happening: Happening) => void;
  /** Default: yes. Entries are most of the memory, and a caller that counts while it runs needs none afterwards. */
  readonly keepsEntries?: boolean;
  /** Breaks a port of Argosy's, to show that the checkers notice. */
  readonly breaker?: Breaker;
  /** Breaks what the database and the scheduler go by when parts of a workspace change hands. */
  readonly parts?: PartsBreaker;
}

export interface PartsBreaker {
  readonly rules?: PartRules;
  readonly nextStep?: typeof nextPartsStep;
}

export interface RunOutcome {
  readonly scenario: string;
  readonly seed: string | number;
  /** Hash of everything that happened: the same for the same seed. */
  readonly traceHash: string;
  readonly events: number;
  readonly simulatedMs: number;
  /** Time from the last trouble until everything agreed; absent if it never did. */
  readonly settledAfterMs: number | undefined;
  /** The first ones: a run ends soon after the first. */
  readonly violations: readonly Violation[];
  readonly history: History;
  readonly last: Photograph;
}

/** Time in which every process lists what is there, before the users come. */
const START_MS = 3_000;
/** Time until a process that a failpoint killed is started again. */
const RESTART_MS = 1_000;
const PHOTOGRAPH_EVERY_MS = 5_000;
/** A run counts as good once it has been at rest for this long. */
const REST_MS = 20_000;

/** Runs one scenario with one seed to its end, or to the first property that does not hold. */
export async function runSeed(options: RunOptions): Promise<RunOutcome> {
  const { seed, failpoints: named = [], breaker = (ports) => ports } = options;
  const scenario = options.scenario.isDrawn ? drawScenario(options.scenario, seed) : options.scenario;
  const history = createHistory(options.keepsEntries);
  const violations = followHistory(history, checkersFor(scenario));
  history.follow(({ happening }) => {
    if (happening.kind === "move") options.onMoved?.(happening.phase);
    options.onHappening?.(happening);
  });
  const world = createWorld(`${scenario.name} ${seed}`, history);
  const failpoints = createFailpoints(world.rng.fork("faults"), named, options.onCall);
  const network = createNetwork(world, failpoints, scenario.hopMs);
  const { members, instances, far, classes, servers, hasWebhook } = scenario;
  const trusted = classes?.trusted;
  const fleet = await startFleet({
    world,
    network,
    members,
    instances,
    far,
    trusted,
    servers,
    hasWebhook,
    breaker,
    rules: options.parts?.rules,
  });
  network.onDeath((name) => fleet.crash(name, RESTART_MS));
  await world.run(START_MS);
  const { faults } = scenario;
  // Argosy's calls alone: what Argo CD does about lost calls is not under test, and some of it leaves objects behind.
  if (faults !== undefined) {
    const { which, longestDelaySeconds, ...rates } = faults;
    failpoints.setRates({ ...rates, whose: "argosy-", ...(which && { which }), longestDelayMs: longestDelaySeconds * 1_000 });
  }
  planUsers(fleet, scenario);
  planMoves(fleet, scenario);
  planLabels(fleet, scenario);
  planPartings(fleet, scenario, options.parts?.nextStep);
  planTroubles(fleet, scenario);
  await world.run(scenario.activeSeconds * 1_000);
  failpoints.setRates(undefined);
  await world.run(longestTroubleMs(scenario));
  world.record({ kind: "calm" });
  const calmAt = world.elapsedMs();
  const { settledAt, last } = await settle(fleet, scenario, violations);
  const outcome: RunOutcome = {
    ...{
      scenario: scenario.name,
      seed,
      traceHash: world.traceHash(),
      events: world.events(),
      simulatedMs: world.elapsedMs(),
      history,
      last,
    },
    settledAfterMs: settledAt === undefined ? undefined : settledAt - calmAt,
    violations: [...violations],
  };
  world.close();
  return outcome;
}

function checkersFor({ budget }: Scenario): readonly Checker[] {
  const always = [
    oneAuthority(),
    ownersWriteAlone(),
    ownerBindingsNameOwners(),
    epochsGrow(),
    nothingWantedIsDeleted(),
    nothingComesBack(),
    keptUntilGone(),
  ];
  const ofMoves = [copiesAreIdle(), nothingIsCutOff(), rightSyncsGoOn(), copiesKnowNoFailure(), requestsAreKept(), ownersKeepTheirs()];
  const inTime = (property: Property, find: (photograph: Photograph) => readonly string[]) =>
    onceSettleTimeIsOver(property, find, budget.settleSeconds);
  const atLast = [inTime("I4", unfinished), inTime("I6", stale), inTime("settled", disagreements)];
  return [...always, ...ofMoves, quietAtRest(budget.writesAtRest), ...atLast];
}

/** Checks the photographs that are taken once the time to settle is over. */
function onceSettleTimeIsOver(property: Property, find: (photograph: Photograph) => readonly string[], settleSeconds: number): Checker {
  let calmAt = Number.POSITIVE_INFINITY;
  let isReported = false;
  return {
    property,
    observe({ at, happening }) {
      if (happening.kind === "calm") calmAt = at;
      if (isReported || happening.kind !== "photograph" || at - calmAt < settleSeconds * 1_000) return undefined;
      const wrong = find(happening.photograph);
      isReported = wrong.length > 0;
      return isReported ? `after ${settleSeconds} s: ${wrong.slice(0, 5).join("; ")}` : undefined;
    },
  };
}

/**
 * After this long every trouble of the active time is over: nobody is cut off, away or down any more, no call is on its way, and no process
 * has to reckon with a creation that it sent while it was parted.
 */
function longestTroubleMs({ troubles, faults }: Scenario): number {
  const lasting = troubles.map(({ kind, longestSeconds }) => 1_000 * longestSeconds + (kind === "part" ? MAY_LAND_MS : 0));
  return Math.max(0, 1_000 * (faults?.longestDelaySeconds ?? 0), ...lasting);
}

function planUsers({ world, ...rest }: Fleet, scenario: Scenario): void {
  const users = createUsers({ world, ...rest }, scenario.workspaces);
  const rng = world.rng.fork("times of users");
  const { create, ...others } = scenario.users;
  const within = (scenario.createWithinSeconds ?? scenario.activeSeconds) * 1_000;
  const at = (ms: number, run: () => void): void => void world.schedule(ms, "a user acts", run);
  for (let count = 0; count < create; count += 1)
    at((rng.next() * within) / (scenario.createWithinSeconds === undefined ? 2 : 1), () => users.create());
  for (const [act, count] of Object.entries(others) as [keyof typeof others, number][])
    for (let time = 0; time < count; time += 1) at(rng.next() * scenario.activeSeconds * 1_000, users[act]);
}

/** The first tenth of the time is for users to come. */
function planMoves(fleet: Fleet, { moves, activeSeconds }: Scenario): void {
  if (moves === undefined) return;
  const { world } = fleet;
  const movers = createMovers(fleet);
  const rng = world.rng.fork("times of moves");
  for (const [act, count] of Object.entries(moves) as [keyof typeof movers, number][])
    for (let time = 0; time < count; time += 1)
      world.schedule((0.1 + 0.9 * rng.next()) * activeSeconds * 1_000, `somebody asks for a ${act}`, () => void movers[act]());
}

function planPartings(fleet: Fleet, { parts, activeSeconds }: Scenario, nextStep: typeof nextPartsStep = nextPartsStep): void {
  if (parts === undefined) return;
  const { world } = fleet;
  const { step } = createPartings(fleet, nextStep);
  const rng = world.rng.fork("times of partings");
  for (let time = 0; time < parts.steps; time += 1)
    world.schedule((0.1 + 0.9 * rng.next()) * activeSeconds * 1_000, "the scheduler cuts or joins", () => void step());
}

function planLabels(fleet: Fleet, { classes, activeSeconds }: Scenario): void {
  if (classes === undefined) return;
  const { world } = fleet;
  const { relabel } = createLabels(fleet);
  const rng = world.rng.fork("times of labels");
  for (let time = 0; time < classes.relabel; time += 1)
    world.schedule((0.1 + 0.9 * rng.next()) * activeSeconds * 1_000, "somebody labels a namespace", relabel);
}

/** Lets time pass until everything has agreed for a while, or the time for that is over, or a property did not hold. */
async function settle(fleet: Fleet, { budget }: Scenario, violations: readonly Violation[]) {
  const { world } = fleet;
  const calmAt = world.elapsedMs();
  let settledAt: number | undefined;
  for (;;) {
    const last = await photograph(fleet);
    const isSettled = disagreements(last).length === 0;
    settledAt = isSettled ? (settledAt ?? world.elapsedMs()) : undefined;
    const isOver = world.elapsedMs() - calmAt >= budget.settleSeconds * 1_000;
    // Photographs are recorded from the second one that agrees: what is under way at the first may still end.
    if (isOver || (settledAt !== undefined && world.elapsedMs() > settledAt)) world.record({ kind: "photograph", photograph: last });
    const isRested = settledAt !== undefined && world.elapsedMs() - settledAt >= REST_MS;
    if (violations.length > 0 || isRested || (isOver && !isSettled)) return { settledAt, last };
    await world.run(PHOTOGRAPH_EVERY_MS);
  }
}
