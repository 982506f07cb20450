/** Comparisons that an instance's processors carry out in a second at most, whatever they are measured in. */
const COMPARISONS_PER_S = 20;
/** One that waits is not queued again, so no more wait than there are applications on an instance. */
const MOST_WAITING = 2_000;
/** Upper ends of the classes of waits, in s. */
const ENDS = Array.from({ length: 121 }, (_, index) => 0.01 * 1.1 ** index);

/** What waits in the queues of instances, step by step, as one distribution over all users and all time. */
export interface Waits {
  /** One step of an instance: how many users it has, what part of its processors their comparisons ask for, and how long it lasts. */
  step(instance: string, users: number, use: number, seconds: number): void;
  /** Users of an instance that compares nothing: all of them wait for that long at least. */
  stands(users: number, seconds: number): void;
  /** How long the users' comparisons waited at most, but for this part of them; in s. */
  quantile(part: number): number;
  /** The longest that the comparisons of a step waited on the mean of an instance that works, in s. */
  worstS(): number;
}

/**
 * Each instance is a queue with random arrivals and one pool of processors (M/M/1: a comparison waits longer than t with probability
 * ρ e^(-μ(1-ρ)t)). Where more is asked for than can be done, what is left waits for the next step.
 */
export function createWaits(): Waits {
  const counts = ENDS.map(() => 0);
  const backlogs = new Map<string, number>();
  let [all, worst] = [0, 0];
  const add = (users: number, longerThan: (waitS: number) => number): void => {
    all += users;
    for (const [index, end] of ENDS.entries()) counts[index] = (counts[index] ?? 0) + users * longerThan(end);
  };
  return {
    step(instance, users, use, seconds) {
      const before = backlogs.get(instance) ?? 0;
      const left = Math.min(MOST_WAITING, Math.max(0, before + (use - 1) * COMPARISONS_PER_S * seconds));
      backlogs.set(instance, left);
      const behindS = Math.max(before, left) / COMPARISONS_PER_S;
      const ratio = Math.min(0.99, use);
      const rate = COMPARISONS_PER_S * (1 - ratio);
      add(users, (waitS) => (waitS < behindS ? 1 : ratio * Math.exp(-rate * (waitS - behindS))));
      if (users > 0) worst = Math.max(worst, behindS + ratio / rate);
    },
    stands: (users, seconds) => add(users, (waitS) => (waitS < seconds ? 1 : 0)),
    quantile: (part) => ENDS.find((_, index) => (counts[index] ?? 0) <= all * (1 - part)) ?? Number.POSITIVE_INFINITY,
    worstS: () => worst,
  };
}
