/** A request that changes something, on its way from a control plane. */
export interface Passage {
  /** What it does, as the simulation's failpoints are called: `engine.PATCH.applications`, `database.move.GRANT`. */
  readonly name: string;
  /** All it says, which it is recognised by. */
  readonly text: string;
  /** The port it comes from at the gate. */
  readonly port: number;
}

/** A moment at which whoever writes dies: before the `index`-th write of this name, from 0, or after it and before its answer. */
export interface WritePoint {
  readonly name: string;
  readonly index: number;
  readonly when: "before" | "after";
}

/** Which writes are counted: those that mention one of these words. */
export interface Watching {
  readonly about: readonly string[];
  readonly point?: WritePoint;
}

/** What became of it. */
export interface Account {
  readonly writes: readonly Pick<WritePoint, "name" | "index">[];
  /** Index of the process that died at the point; absent: nobody came to it. */
  readonly victim: number | undefined;
}

/** What every write of the control planes goes through while somebody counts them. */
export interface Turnstile {
  /** Begins to count anew. */
  watch(watching: Watching): void;
  account(): Account;
  /** Carries a write to its server; `undefined`: whoever sent it is dead, and is to hear nothing. */
  pass<T>(passage: Passage, carry: () => Promise<T>): Promise<T | undefined>;
}

/** `kill` ends the process that sends from a port of the gate, and returns its index. */
export function createTurnstile(kill: (port: number) => Promise<number>): Turnstile {
  let watching: Watching = { about: [] };
  let writes: Pick<WritePoint, "name" | "index">[] = [];
  let victim: number | undefined;

  const isPoint = ({ name, index }: Pick<WritePoint, "name" | "index">, when: WritePoint["when"]): boolean => {
    const { point } = watching;
    return point !== undefined && point.when === when && point.name === name && point.index === index;
  };
  const count = ({ name }: Passage) => {
    const write = { name, index: writes.filter((each) => each.name === name).length };
    writes.push(write);
    return write;
  };

  return {
    watch(next) {
      [watching, writes, victim] = [next, [], undefined];
    },
    account: () => ({ writes, victim }),
    async pass(passage, carry) {
      if (!watching.about.some((word) => passage.text.includes(word))) return carry();
      const write = count(passage);
      if (isPoint(write, "before")) {
        victim = await kill(passage.port);
        return undefined;
      }
      const answer = await carry();
      if (!isPoint(write, "after")) return answer;
      victim = await kill(passage.port);
      return undefined;
    },
  };
}
