import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RefusedError, UnavailableError } from "../domain/errors.ts";
import { observe } from "./observe.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const away = () => new UnavailableError("no answer from there", { code: "cli.no-answer" });

it("goes on looking while nobody answers, and says so once", async () => {
  let left = 2;
  const reported: string[] = [];
  const read = async () => {
    left -= 1;
    if (left >= 0) throw away();
    return "seen";
  };
  const seen = observe(read, { tell: (line) => void reported.push(line) });
  await vi.runAllTimersAsync();
  expect(await seen).toBe("seen");
  expect(reported).toEqual(["no answer from there; it is asked again"]);
});

it("gives up after minutes, and at once when it is refused", async () => {
  const caught = observe(() => Promise.reject(away()), { tell: () => undefined }).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  expect(await caught).toBeInstanceOf(UnavailableError);
  const refused = new RefusedError("no", { code: "api.forbidden" });
  await expect(observe(() => Promise.reject(refused), { tell: () => undefined })).rejects.toBe(refused);
});
