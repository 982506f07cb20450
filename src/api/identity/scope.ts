import type { Scope } from "../../domain/scope.ts";
import type { WorkspaceSummary } from "../../store/operation/port.ts";
import type { TokenRole } from "../../store/token/port.ts";
import { includesRole } from "../auth.ts";
import type { Caller, Grant } from "./port.ts";

/** What a request, or an entry of a list, is about. */
export type Subject =
  | { readonly kind: "workspace"; readonly namespace: string; readonly classes: readonly string[] }
  /** Instances of a class, with everything that lives there. */
  | { readonly kind: "class"; readonly class: string };

/** The scopes of which one has to cover a subject; `undefined`: nothing is limited. */
export type Scopes = readonly Scope[] | undefined;

/** Whether a subject lies within a scope. As long as a workspace has no class, it is in no scope of classes. */
export function covers(scope: Scope, subject: Subject): boolean {
  const { classes, workspaces } = scope;
  // Whoever is limited to nothing has a scope all the same, and it was not understood.
  if (classes === undefined && workspaces === undefined) return false;
  if (subject.kind === "class") return workspaces === undefined && classes?.includes(subject.class) === true;
  const isOfClass = classes === undefined || (subject.classes.length > 0 && subject.classes.every((one) => classes.includes(one)));
  return isOfClass && (workspaces === undefined || workspaces.some((pattern) => matches(pattern, subject.namespace)));
}

export function isWithin(scopes: Scopes, subject: Subject): boolean {
  return scopes === undefined || scopes.some((scope) => covers(scope, subject));
}

/** A workspace with the classes of its units. */
export function workspaceSubject({ workspace, units }: Pick<WorkspaceSummary, "workspace" | "units">): Subject {
  return { kind: "workspace", namespace: workspace.namespace, classes: units.map((unit) => unit.class) };
}

function matches(pattern: string, namespace: string): boolean {
  return pattern.endsWith("*") ? namespace.startsWith(pattern.slice(0, -1)) : namespace === pattern;
}

export function grantsOf({ role, scope, grants }: Pick<Caller, "role" | "scope" | "grants">): readonly Grant[] {
  return grants ?? [{ role, ...(scope === undefined ? {} : { scope }) }];
}

/** Where a caller has at least this role. */
export function scopesFor(grants: readonly Grant[], needed: TokenRole): Scopes {
  const enough = grants.filter(({ role }) => includesRole(role, needed));
  if (enough.some(({ scope }) => scope === undefined)) return undefined;
  return enough.flatMap(({ scope }) => scope ?? []);
}

/** The highest role that a caller has for each of the subjects, and where there are none for everything; `undefined`: it has none. */
export function roleFor(grants: readonly Grant[], subjects: readonly Subject[]): TokenRole | undefined {
  const roles: readonly TokenRole[] = ["approver", "operator", "viewer"];
  return roles.find((role) => {
    const scopes = scopesFor(grants, role);
    return scopes === undefined || (scopes.length > 0 && subjects.length > 0 && subjects.every((subject) => isWithin(scopes, subject)));
  });
}

/** Scopes in words, for whoever is limited by them. */
export function scopesText(scopes: readonly Scope[]): string {
  if (scopes.length === 0) return "nothing";
  return scopes
    .map(({ classes, workspaces }) =>
      [
        ...(workspaces === undefined ? [] : [`workspaces ${workspaces.join(", ")}`]),
        ...(classes === undefined ? [] : [`${workspaces === undefined ? "classes" : "of the classes"} ${classes.join(", ")}`]),
      ].join(" "),
    )
    .join("; ");
}
