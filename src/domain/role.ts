/** What one process may do; see the table of processes in ARCHITECTURE.md. */
export const ROLES = ["workspace", "scheduler", "reconciler", "provisioner", "health", "api"] as const;
export type Role = (typeof ROLES)[number];
