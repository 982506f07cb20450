import type { Store } from "../port.ts";

/** A store that counts what is asked of it, by the names of its methods, such as `health.record`. */
export function countingStore<S extends Store>(store: S): { readonly store: S; readonly counts: Map<string, number> } {
  const counts = new Map<string, number>();
  const counting = (part: string, of: object): object =>
    new Proxy(of, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: readonly unknown[]): unknown => {
          const method = `${part}.${String(name)}`;
          counts.set(method, (counts.get(method) ?? 0) + 1);
          return Reflect.apply(member, target, args);
        };
      },
    });
  const parts = Object.entries(store).map(([name, part]: [string, unknown]) => [
    name,
    typeof part === "object" && part !== null && name !== "changes" ? counting(name, part) : part,
  ]);
  return { store: Object.fromEntries(parts) as S, counts };
}
