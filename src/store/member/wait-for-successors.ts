import type { Clock } from "../../domain/clock.ts";
import type { MemberId } from "../../domain/ids.ts";
import type { Prospect } from "../../domain/partition.ts";
import { abandonable } from "../../runtime/kube/signals.ts";
import type { Log } from "../../telemetry/log.ts";

/** Who is alive, by role and by what members say beside their roles. */
export type Live = ReadonlyMap<string, readonly MemberId[]>;

/** What a process says beside a role that it has and is about to leave: its keys are dealt as before until it has left. */
const leaving = (role: string): string => `leaving:${role}`;
/** What a process says that is prepared to work on what it gains of that member. */
const preparedFor = (member: MemberId): string => `prepared:${member}`;

/** Those that have a role. */
export const havingOf = (live: Live, role: string): readonly MemberId[] => live.get(role) ?? [];
/** Those of a role that are about to leave. */
export const leavingOf = (live: Live, role: string): readonly MemberId[] => live.get(leaving(role)) ?? [];

export interface HandOverDeps {
  readonly memberId: MemberId;
  /** Who is alive, as far as this process knows. */
  readonly live: () => Live;
  readonly prospectOf: (role: string) => Prospect;
  /** Says this with each sign of life from now on, and gives one now; `unsay` ends that. */
  readonly say: (notice: string) => void;
  readonly unsay: (notice: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface HandOver {
  /** As `Membership.handOver`. */
  begin(role: string, signal: AbortSignal): Promise<void>;
  /** As `Membership.onLeaving`. */
  onLeaving(role: string, prepare: (prospect: Prospect) => Promise<void>): void;
  /** Takes in who lives, after a sign of life that said this. */
  learn(said: readonly string[]): void;
  /** Ends all waits for others: nobody can be notified, or this process leaves. */
  giveUp(): void;
}

/** What members say and do before one of them leaves, so that nobody has to list what it gains after that one has left. */
export function createHandOver({ memberId, live, prospectOf, say, unsay, clock, log }: HandOverDeps): HandOver {
  /** What this process does before it says that it is prepared, by role. */
  const preparations = new Map<string, (prospect: Prospect) => Promise<void>>();
  /** Those that leave for whom this process is prepared, or is preparing. */
  const prepared = new Set<MemberId>();
  /** What ends the wait for the others, by the role that this process hands over. */
  const waits = new Map<string, () => void>();

  const hasRole = (role: string): boolean => havingOf(live(), role).includes(memberId);

  const prepareFor = async (member: MemberId, prepare: () => Promise<void>): Promise<void> => {
    prepared.add(member);
    await prepare().catch((error: unknown) => log.warn({ error, member }, "Taking over from a member without having listed its share"));
    if (prepared.has(member)) say(preparedFor(member));
  };

  /** Those whose share this process has to prepare for. */
  const othersGoing = (role: string): readonly MemberId[] => (hasRole(role) ? leavingOf(live(), role).filter((id) => id !== memberId) : []);

  const prepareForOthers = (): void => {
    for (const [role, prepare] of preparations)
      for (const id of othersGoing(role)) if (!prepared.has(id)) void prepareFor(id, () => prepare(prospectOf(role)));
    const going = new Set([...preparations.keys()].flatMap(othersGoing));
    for (const id of [...prepared].filter((each) => !going.has(each))) {
      prepared.delete(id);
      unsay(preparedFor(id));
    }
  };

  /** Whether each of those that stay is prepared for what it gains of this process. */
  const arePrepared = (role: string): boolean => {
    const going = leavingOf(live(), role);
    const saidSo = live().get(preparedFor(memberId)) ?? [];
    return havingOf(live(), role).every((id) => id === memberId || going.includes(id) || saidSo.includes(id));
  };

  return {
    async begin(role, signal) {
      if (!hasRole(role)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const startedAtMs = clock.monotonicMs();
      waits.set(role, resolve);
      say(leaving(role));
      await abandonable(promise, signal).catch(() => undefined);
      waits.delete(role);
      log.info({ role, arePrepared: arePrepared(role), tookMs: clock.monotonicMs() - startedAtMs }, "Leaving a role to the others");
    },
    onLeaving: (role, prepare) => void preparations.set(role, prepare),
    learn(said) {
      prepareForOthers();
      for (const [role, end] of waits) if (said.includes(leaving(role)) && arePrepared(role)) end();
    },
    giveUp() {
      for (const end of waits.values()) end();
    },
  };
}
