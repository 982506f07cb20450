/** What a check finds: whether it is well, and in words why it is or is not. */
export interface HealthFinding {
  readonly ok: boolean;
  readonly detail: string;
}

/** One thing this process needs. The check reads what is known already; it waits for nothing. */
export interface HealthCheck {
  readonly name: string;
  check(): HealthFinding;
}

export interface HealthReport {
  readonly ok: boolean;
  readonly checks: readonly ({ readonly name: string } & HealthFinding)[];
}

/** The checks of one question: `ready` (may it be sent work) or `alive` (would a restart help). */
export interface HealthRegistry {
  /** Adds a check; the returned function takes it out again. */
  register(check: HealthCheck): () => void;
  /** Asks every check, sorted by name. A check that throws is not well; with no check at all the answer is well. */
  report(): HealthReport;
}

/** Creates a registry without checks. */
export function createHealthRegistry(): HealthRegistry {
  const checks = new Set<HealthCheck>();
  return {
    register(check) {
      checks.add(check);
      return () => void checks.delete(check);
    },
    report() {
      const found = [...checks]
        .map((check) => ({ name: check.name, ...ask(check) }))
        .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
      return { ok: found.every((finding) => finding.ok), checks: found };
    },
  };
}

function ask(check: HealthCheck): HealthFinding {
  try {
    return check.check();
  } catch (error) {
    return { ok: false, detail: `the check itself failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** A report as lines of text, `ok  database: connected`, one for each check. */
export function renderHealth(report: HealthReport): string {
  return report.checks.map(({ ok, name, detail }) => `${ok ? "ok  " : "fail"} ${name}: ${detail}\n`).join("");
}
