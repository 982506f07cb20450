import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { DecisionView } from "../src/api/schema.ts";
import { GoneError, RefusedError, StaleError } from "../src/domain/errors.ts";
import type { MoveId } from "../src/domain/ids.ts";
import type { Move } from "../src/domain/move.ts";
import { ACCOUNTS_NAMESPACE, ANNOTATION_EPOCH } from "../src/domain/names.ts";
import type { KubeClient } from "../src/runtime/kube/client.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { openPerson, type Person, refusalOf, tokenOf } from "./attacks/person.ts";
import { OWNER_BINDING } from "./attacks/scene.ts";
import { bindingOf } from "./binding.ts";
import { askForMove, expectOneWriter, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { allowMore, forbidMore } from "./quota.ts";
import { openTruth, type Truth } from "./truth.ts";
import { IS_LONG, openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMESPACE = "move-attacks";
const ROLES = ["edit", "admin"] as const;
const PROBE_EVERY_MS = 100;
const DEADLINE_MS = 20 * 60_000;
/** Longer than refusals have to last to be believed. */
const BEYOND_THE_FENCE_MS = 5_000;

let world: World;
let truth: Truth;
let movable: Movable;
let people: Readonly<Record<(typeof ROLES)[number], Person>>;
beforeAll(async () => {
  world = openWorld();
  [truth, movable] = await Promise.all([openTruth(world), openMovable(world, NAMESPACE, ["app"])]);
  const [edit, admin] = await Promise.all(ROLES.map((role) => openPerson(world, role, NAMESPACE)));
  if (edit === undefined || admin === undefined) throw new Error("two roles are two people");
  people = { edit, admin };
}, DEADLINE_MS);
afterAll(async () => {
  await Promise.all(ROLES.map((role) => people?.[role].kube.close()));
  await truth?.close();
});

const AT = { namespace: NAMESPACE, name: OWNER_BINDING };
const subjectOf = (name: string) => ({ kind: "ServiceAccount", namespace: ACCOUNTS_NAMESPACE, name });
const bind = (name: string, role: string, account: string) =>
  bindingOf({ namespace: NAMESPACE, name }, role, { namespace: ACCOUNTS_NAMESPACE, name: account });

/** What nobody with rights in a namespace may do about the account that deploys it. */
const ATTEMPTS: Readonly<Record<string, (kube: KubeClient, account: string) => Promise<unknown>>> = {
  "make a token": (kube, name) => tokenOf(kube, { namespace: ACCOUNTS_NAMESPACE, name }, world.signal),
  impersonate: (kube, name) =>
    kube.request(
      {
        ...{ method: "GET", path: `/api/v1/namespaces/${NAMESPACE}/configmaps` },
        headers: { "Impersonate-User": `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${name}` },
      },
      world.signal,
    ),
  "bind it": (kube, name) => kube.create(TYPES.roleBinding, bind("attack", OWNER_BINDING, name), world.signal),
  "name both in the owner binding": (kube) =>
    kube.mergePatch(TYPES.roleBinding, AT, { subjects: movable.accounts.map(subjectOf) }, world.signal),
  "forge the owner binding's epoch": (kube) =>
    kube.mergePatch(TYPES.roleBinding, AT, { metadata: { annotations: { [ANNOTATION_EPOCH]: "99999999999" } } }, world.signal),
};

/** Attempts at the owner binding itself. */
const OF_OWNER_BINDING = ["name both in the owner binding", "forge the owner binding's epoch"];

/**
 * How an attempt was answered: refused, or without effect because the owner binding was missing or being written at
 * that moment.
 */
async function answerTo(attempt: Promise<unknown>): Promise<"refused" | "missed" | "ALLOWED" | Error> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return "ALLOWED";
  if (error instanceof GoneError || error instanceof StaleError) return "missed";
  return error instanceof RefusedError && error.context["status"] === 403 ? "refused" : (error as Error);
}

async function tryIt(attempt: string, kube: KubeClient, account: string): Promise<unknown> {
  const run = ATTEMPTS[attempt];
  if (run === undefined) throw new Error(`nobody tries to ${attempt}`);
  return run(kube, account);
}

interface Outcome {
  readonly phase: Move["phase"];
  readonly attempt: string;
  readonly answer: Awaited<ReturnType<typeof answerTo>>;
}

/** Tries these for as long as a move goes on. */
function attack(attempts: readonly string[], moveId: () => MoveId | undefined) {
  const outcomes: Outcome[] = [];
  const rounds = ROLES.map((role) =>
    again(PROBE_EVERY_MS, async () => {
      for (const attempt of attempts)
        for (const account of movable.accounts) {
          const phase = (await phaseOf(moveId()))?.phase;
          const answer = await answerTo(tryIt(attempt, people[role].kube, account));
          if (phase !== undefined) outcomes.push({ phase, attempt: `${role}: ${attempt}`, answer });
        }
    }),
  );
  return {
    outcomes: outcomes as readonly Outcome[],
    async end(): Promise<void> {
      for (const round of rounds) await round.end();
    },
  };
}

/** Every attempt was refused, and each was made both while users had an owner and while they had none. */
function expectRefused(outcomes: readonly Outcome[], attempts: readonly string[]): void {
  expect(outcomes.filter(({ answer }) => answer !== "refused" && answer !== "missed")).toEqual([]);
  const phases = [...new Set(outcomes.map(({ phase }) => phase))];
  report(`${outcomes.length} attempts in ${phases.join(", ")}`);
  for (const phase of ["PREPARE", "REVOKE"]) expect(phases).toContain(phase);
  const refused = new Set(outcomes.filter(({ answer }) => answer === "refused").map(({ attempt }) => attempt));
  expect(refused.size).toBe(ROLES.length * attempts.length);
}

const phaseOf = async (id: MoveId | undefined): Promise<Move | undefined> =>
  id === undefined ? undefined : truth.store.moves.read(id, world.signal);

const reached = (id: string, phase: Move["phase"]): Promise<unknown> =>
  until(
    `the move in ${phase}`,
    () => phaseOf(id as MoveId),
    (move) => move?.phase === phase || move?.endedAt !== undefined,
  );

const ownersAccount = async (): Promise<string> => {
  const owner = await movable.owner();
  return movable.accounts[movable.instances.findIndex(({ name }) => name === owner)] ?? "";
};

/** Expects the owner binding to be as it is while the namespace's owner works. */
async function expectOwnerBinding(): Promise<void> {
  const account = await ownersAccount();
  await until(
    "the owner binding of the owner",
    () => world.kube.get<KubeObject & { readonly subjects?: readonly { readonly name: string }[] }>(TYPES.roleBinding, AT, world.signal),
    (found) =>
      found?.metadata.deletionTimestamp === undefined &&
      JSON.stringify(found?.subjects?.map(({ name }) => name)) === JSON.stringify([account]),
  );
}

/** Moves the workspace under attack; `act` is done during the move. */
async function movedUnderAttack(act: (move: MoveView) => Promise<void>, attempts: readonly string[] = Object.keys(ATTEMPTS)) {
  let id: MoveId | undefined;
  const writers: number[] = [];
  const uids = await movable.uids();
  const probing = again(PROBE_EVERY_MS, async () => void writers.push(await movable.writers()));
  const attacking = attack(attempts, () => id);
  try {
    const asked = await askForMove(world, movable, await movable.other());
    id = asked.id as MoveId;
    await act(asked);
    const move = await moveEnded(world, asked);
    await expectOwnerBinding();
    await movable.push("app", asked.id);
    await movable.arrived("app", asked.id);
    expect(await movable.uids()).toEqual(uids);
    expectRefused(attacking.outcomes, attempts);
    return { move, writers };
  } finally {
    await probing.end();
    await attacking.end();
  }
}

const repairsReported = async (): Promise<number> =>
  (await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", { kind: "owner-binding", subject: movable.unitId }))
    .items.length;

describe("a namespace's administrator who attacks the owner binding during a move", () => {
  const admin = () => people.admin.kube;
  const remove = () => admin().delete(TYPES.roleBinding, AT, {}, world.signal);
  const cases: Readonly<Record<string, (move: MoveView) => Promise<void>>> = {
    "deletes it and holds it by a finalizer": async ({ id }) => {
      await admin().mergePatch(TYPES.roleBinding, AT, { metadata: { finalizers: ["example.com/held"] } }, world.signal);
      await remove();
      await reached(id, "REVOKE");
    },
    "replaces it by one with a forged epoch": async ({ id }) => {
      await reached(id, "REVOKE");
      const metadata = { ...AT, annotations: { [ANNOTATION_EPOCH]: "99999999999" } };
      const forged = { ...bind(OWNER_BINDING, "view", movable.accounts[0] ?? ""), metadata };
      // The repair may be faster than the attack, so the attack is repeated.
      await until(
        "the forged owner binding",
        async () => answerTo(remove().then(() => admin().create(TYPES.roleBinding, forged, world.signal))),
        (answer) => answer === "ALLOWED",
      );
    },
    ...(IS_LONG
      ? {
          "deletes it while nobody may write": ({ id }: MoveView) => reached(id, "REVOKE").then(remove),
          "deletes it when the new owner has it": ({ id }: MoveView) => reached(id, "ACTIVATE").then(remove),
        }
      : {}),
  };

  it.each(Object.entries(cases))(
    "%s: the move ends, and there are never two owners (I1, I4)",
    async (_what, act) => {
      // The attacker may write to an owner binding of its own making, until it is repaired.
      const attempts = Object.keys(ATTEMPTS).filter((attempt) => !OF_OWNER_BINDING.includes(attempt));
      const { move, writers } = await movedUnderAttack(act, attempts);
      expect([move.phase, move.message]).toEqual(["DONE", ""]);
      expectOneWriter(writers);
      await until("a reported repair", repairsReported, (count) => count > 0);
    },
    DEADLINE_MS,
  );
});

describe("a quota that answers every write with 403", () => {
  it(
    "does not count as a refusal: while another binding lets the old owner write, the move waits, says for what, and goes on when the binding is gone (I1, I4)",
    async () => {
      const metadata = { namespace: NAMESPACE, name: "no-more" };
      await forbidMore(world, metadata, "count/configmaps");
      const account = await ownersAccount();
      const headers = { "Impersonate-User": `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${account}` };
      const tried = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: NAMESPACE, name: "tried" } };
      await until(
        "the quota in force",
        () => {
          const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
          return refusalOf(
            world.kube.request({ method: "POST", path, query: { dryRun: "All" }, body: tried, headers }, world.signal),
          ).catch(() => undefined);
        },
        (found) => found?.status === 403 && found.message.includes("exceeded quota"),
      );
      await people.admin.kube.create(TYPES.roleBinding, bind("bypass", "edit", account), world.signal);
      const { move, writers } = await movedUnderAttack(async ({ id }) => {
        await reached(id, "REVOKE");
        const since = performance.now();
        const held = await until(
          "it waits for longer than it takes to believe a refusal",
          () => phaseOf(id as MoveId),
          (found) => found?.phase !== "REVOKE" || performance.now() - since > BEYOND_THE_FENCE_MS,
        );
        expect([held?.phase, held?.message]).toEqual(["REVOKE", "for the old owner to be refused"]);
        await people.admin.kube.delete(TYPES.roleBinding, { namespace: NAMESPACE, name: "bypass" }, {}, world.signal);
      });
      expect([move.phase, move.message]).toEqual(["DONE", ""]);
      expectOneWriter(writers);
      await allowMore(world, metadata);
    },
    DEADLINE_MS,
  );

  it.runIf(IS_LONG)(
    "does not hold a move up for ever: it is given up after a minute, with the reason, and the old owner goes on (I4)",
    async () => {
      const [owner, account] = [await movable.owner(), await ownersAccount()];
      await people.admin.kube.create(TYPES.roleBinding, bind("bypass", "edit", account), world.signal);
      const { move } = await movedUnderAttack(async () => undefined);
      expect([move.phase, move.message]).toEqual([
        "ABORTED",
        "OwnerBindingBypassed: the old owner may still write, by another binding than its owner binding",
      ]);
      expect(await movable.owner()).toBe(owner);
      await people.admin.kube.delete(TYPES.roleBinding, { namespace: NAMESPACE, name: "bypass" }, {}, world.signal);
    },
    DEADLINE_MS,
  );
});
