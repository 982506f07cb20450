/** A request that changes something, on its way from a control plane. */
export interface Passage {
  /** What it does, in the names of the simulation's failpoints: `engine.PATCH.applications`, `database.move.GRANT`. */
  readonly name: string;
  /** Its whole text, by which it is recognised. */
  readonly text: string;
  /** The port at the gate that it comes from. */
  readonly port: number;
}

/** When the sender dies: before the `index`-th write of this name, from 0, or after it and before its answer. */
export interface WritePoint {
  readonly name: string;
  readonly index: number;
  readonly when: "before" | "after";
}

/** Writes are counted if they contain one of these words. */
export interface Watching {
  readonly about: readonly string[];
  readonly point?: WritePoint;
}

/** What happened. */
export interface Account {
  readonly writes: readonly Pick<WritePoint, "name" | "index">[];
  /** Index of the process that died at the point. Absent: no write reached it. */
  readonly victim: number | undefined;
}

/** Passes the writes of the control planes on, and counts them. */
export interface Turnstile {
  /** Begins to count again from zero. */
  watch(watching: Watching): void;
  account(): Account;
  /** Passes a write to its server. `undefined`: the sender was killed and gets no answer. */
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
