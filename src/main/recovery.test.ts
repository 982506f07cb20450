import { describe, expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import { ANNOTATION_EPOCH } from "../domain/names.ts";
import { sleep } from "../runtime/clock.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import type { Log } from "../telemetry/log.ts";
import { silentLog } from "../telemetry/log.ts";
import { refuseOldDatabase } from "./recovery.ts";

const never = new AbortController().signal;
const OLD = { code: "main.old-database" };

describe("whether a database is older than what stands", () => {
  /** Asks an API server with these pages of accounts, by their epochs, of which each takes so long. */
  const ask = async (pages: readonly number[], pageMs: number, over: Partial<Pick<KubeClient, "listPage">> = {}) => {
    const clock = createVirtualClock();
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_, message) => void warnings.push(message) };
    const listPage = async (_: unknown, { continueToken = "0" }: { readonly continueToken?: string }, signal: AbortSignal) => {
      await sleep(clock, pageMs, signal);
      const page = Number(continueToken);
      const metadata = {
        name: `u-${page}`,
        namespace: "argosy-accounts",
        uid: "u",
        resourceVersion: "1",
        annotations: { [ANNOTATION_EPOCH]: String(pages[page]) },
      };
      return { items: [{ metadata }], resourceVersion: "1", continueToken: page + 1 < pages.length ? String(page + 1) : undefined };
    };
    const api = { listPage, ...over } as unknown as KubeClient;
    const asked = refuseOldDatabase({ store: createMemoryStore({ clock }), api, clock, log }, never).then(
      () => "new enough",
      (error: unknown) => error,
    );
    let answer: unknown;
    void asked.then((given) => {
      answer = given;
    });
    for (let second = 0; answer === undefined && second < 600; second += 1) await clock.advance(1_000);
    return { answer, warnings, tookMs: clock.monotonicMs() };
  };

  it("is asked page by page to the end, however long all of them take together", async () => {
    const { answer, warnings, tookMs } = await ask([0, 0, 0, 0, 5_000], 4_000);
    expect([answer, warnings]).toEqual([expect.objectContaining(OLD), []]);
    expect(tookMs).toBeGreaterThan(15_000);
    expect((await ask([0, 0, 0], 4_000)).answer).toBe("new enough");
  });

  it("keeps nobody from starting while the API server gives no answer to one of them", async () => {
    const { answer, warnings, tookMs } = await ask([0, 5_000], 6_000);
    expect([answer, warnings]).toEqual(["new enough", [expect.stringContaining("the API server does not answer")]]);
    expect(tookMs).toBeLessThan(10_000);
    const listPage = () => Promise.reject(new UnavailableError("Listing", { code: "kube.connection" }));
    expect((await ask([5_000], 0, { listPage })).answer).toBe("new enough");
  });

  it("is an error where the answer is a refusal", async () => {
    const listPage = () => Promise.reject(new Error("forbidden"));
    expect((await ask([5_000], 0, { listPage })).answer).toEqual(new Error("forbidden"));
  });
});
