import type { Millis } from "./clock.ts";
import type { InstanceId } from "./ids.ts";

/** Who gave a standing order, when and why. */
export interface Said {
  readonly actor: string;
  readonly reason: string;
  readonly at: Millis;
}

/** A workspace lives on this instance, or on one of this pool, whatever plans would gain by moving it elsewhere. */
export type Pin = Said & ({ readonly kind: "instance"; readonly instance: InstanceId } | { readonly kind: "pool"; readonly pool: string });

/** A workspace is not moved before this time unless it must be. */
export interface Hold extends Said {
  readonly until: Millis;
}

/** A workspace has this class, whatever labels of its namespace ask for. */
export interface Assignment extends Said {
  readonly class: string;
}

/** What people have ordered about one workspace; it binds all its units. */
export interface Directive {
  readonly pin: Pin | undefined;
  readonly hold: Hold | undefined;
  readonly assigned?: Assignment | undefined;
}

export const NO_DIRECTIVE: Directive = { pin: undefined, hold: undefined };

/** Subject of the journal's entries about a freeze. */
export function freezeSubject(name: string): string {
  return `freeze/${name}`;
}

/** A time in which nothing of the fleet is moved that need not be. */
export interface Freeze extends Said {
  readonly name: string;
  /** When it begins, again and again: five fields as cron has them, in UTC. Absent: once, when it was ordered. */
  readonly schedule: string | undefined;
  readonly durationMs: number;
}
