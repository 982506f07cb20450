import { UnavailableError } from "../../domain/errors.ts";

export type FaultMode = "fails once" | "loses its reply once";
export const FAULT_MODES: readonly FaultMode[] = ["fails once", "loses its reply once"];

/** Breaks one call of many: the n-th that goes through any of the wrapped ports. */
export interface FaultPoints {
  /** The same port, whose waiting methods are points where something may break. */
  wrap<T extends object>(target: T): T;
  /** Breaks the call number `index` from now on. */
  arm(index: number, mode: FaultMode): void;
  /** Name of the call that broke; `undefined` when there were fewer calls. */
  broke(): string | undefined;
}

/** `waiting`: methods that may break. */
export function createFaultPoints(waiting: ReadonlySet<string> = WAITING): FaultPoints {
  let left = -1;
  let armed: FaultMode = "fails once";
  let broken: string | undefined;
  const failure = (name: string): UnavailableError => new UnavailableError(`calling ${name}`, { code: "test.fault" });

  const pass = async (name: string, call: () => Promise<unknown>): Promise<unknown> => {
    left -= 1;
    if (left !== -1) return call();
    broken = name;
    if (armed === "loses its reply once") await call();
    throw failure(name);
  };

  return {
    wrap: <T extends object>(target: T): T =>
      new Proxy(target, {
        get(object, name) {
          const member: unknown = Reflect.get(object, name);
          if (typeof member !== "function" || !waiting.has(String(name))) return member;
          return (...args: unknown[]) => pass(String(name), () => Reflect.apply(member, object, args) as Promise<unknown>);
        },
      }),
    arm(index, mode) {
      left = index;
      armed = mode;
      broken = undefined;
    },
    broke: () => broken,
  };
}

/** Methods of the reconciler's ports that wait; the others answer from memory and cannot break. */
const WAITING: ReadonlySet<string> = new Set([
  ...["read", "create", "patch", "delete", "issue", "removeEndless"],
  ...["readApplications", "readUnit", "listOwned", "listActing", "acknowledge", "forgetApplications", "forgetObjects", "forgetWorkspace"],
  ...["listInstances", "readInstance"],
  ...["readQueues", "recordReports"],
]);
