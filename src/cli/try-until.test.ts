import { describe, expect, it } from "vitest";
import { type Clock, millis } from "../domain/clock.ts";
import { RefusedError, UnavailableError } from "../domain/errors.ts";
import type { Terminal } from "./terminal.ts";
import { tryUntil } from "./try-until.ts";

/** Time that passes while somebody waits for it, and at no other moment. */
function waitedFor(): Clock {
  let now = 0;
  return {
    now: () => millis(now),
    monotonicMs: () => now,
    after(delayMs, run) {
      now += delayMs;
      queueMicrotask(run);
      return () => {};
    },
  };
}

const AWAY = new UnavailableError("no answer", { code: "cli.no-answer" });
const UNTRUSTED = new RefusedError("its certificate is not trusted", { code: "cli.untrusted" });
const NO_ROLE = new RefusedError("this needs an operator", { code: "api.role" });

describe("trying until something is so", () => {
  const notes: string[] = [];
  const terminal: Terminal = {
    ...{ env: {}, version: "1.0.0", write: () => {}, setExitCode: () => {} },
    note: (text) => void notes.push(text),
    interrupted: () => new AbortController().signal,
  };
  const attempt = (answers: (Error | number)[], wait: string | undefined) => {
    notes.length = 0;
    return tryUntil(
      { wait, clock: waitedFor(), terminal },
      async () => {
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        if (answer instanceof Error) throw answer;
        return answer;
      },
      (value) => value === 1,
    );
  };

  it("goes on past a server that is away or has not the certificate yet, and notes each reason once", async () => {
    await expect(attempt([AWAY, AWAY, UNTRUSTED, 0, 1], "1m")).resolves.toBe(1);
    expect(notes).toEqual(["waiting: no answer", "waiting: its certificate is not trusted"]);
  });

  it("gives what the last try gave when the time is over", async () => {
    await expect(attempt([0], "10s")).resolves.toBe(0);
    await expect(attempt([AWAY], "10s")).rejects.toBe(AWAY);
  });

  it("ends at once with what no waiting mends, and where nobody waits", async () => {
    await expect(attempt([NO_ROLE, 1], "1m")).rejects.toBe(NO_ROLE);
    await expect(attempt([AWAY, 1], undefined)).rejects.toBe(AWAY);
    await expect(attempt([0, 1], undefined)).resolves.toBe(0);
  });
});
