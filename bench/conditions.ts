import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The conditions under which figures were measured. */
export interface Conditions {
  readonly at: string;
  readonly commit: string;
  readonly machine: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
  readonly postgres: string;
  readonly kubernetes: string;
  readonly engine: string;
  readonly processes: number;
  /** Load average over one minute, at the beginning and at the end. */
  readonly load: readonly number[];
}

export function readConditions(found: Pick<Conditions, "postgres" | "kubernetes" | "engine" | "processes">): Conditions {
  return {
    at: new Date().toISOString(),
    commit: commit(),
    machine: `${cpus()[0]?.model.trim() ?? "?"}, ${type()} ${release()}`,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    ...found,
    load: [loadNow()],
  };
}

export function loadNow(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** The commit; with `+` if there were uncommitted changes. */
function commit(): string {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", [...args], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  try {
    return `${git("rev-parse", "--short=12", "HEAD").trim()}${git("status", "--porcelain", "--untracked-files=no").trim() === "" ? "" : "+"}`;
  } catch {
    return "unknown";
  }
}

export function renderConditions(conditions: Conditions): string {
  const { at, commit: id, machine, cores, memoryGiB, node, postgres, kubernetes, engine, processes, load } = conditions;
  return [
    `${at}, commit ${id}`,
    `${machine}, ${cores} cores, ${memoryGiB} GiB, load average ${load.join(" to ")}`,
    `Node.js ${node}, PostgreSQL ${postgres}, Kubernetes ${kubernetes}, engine ${engine}, Argosy processes: ${processes}`,
  ].join("\n");
}
