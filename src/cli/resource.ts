import { InputError } from "../domain/errors.ts";

/** Kinds of things an SRE can list. */
export const RESOURCES = ["instances", "workspaces", "applications", "operations", "plans", "moves", "rollouts", "fleet"] as const;
export type Resource = (typeof RESOURCES)[number];

/** Singular and the usual short forms. */
const ALIASES: Readonly<Record<string, Resource>> = {
  instance: "instances",
  inst: "instances",
  workspace: "workspaces",
  ws: "workspaces",
  application: "applications",
  app: "applications",
  apps: "applications",
  plan: "plans",
  move: "moves",
  rollout: "rollouts",
  operation: "operations",
  op: "operations",
  ops: "operations",
};

export function resourceOf(text: string): Resource {
  const resource = RESOURCES.find((name) => name === text) ?? ALIASES[text];
  if (resource !== undefined) return resource;
  throw new InputError(`there is no kind ${text}`, {
    code: "cli.resource",
    path: "resource",
    remedy: `Use one of ${RESOURCES.join(", ")}`,
  });
}

/** `instances` → `instance`. */
export function singularOf(resource: Resource): string {
  return resource.replace(/s$/, "");
}
