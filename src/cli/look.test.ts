import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RefusedError, UnavailableError } from "../domain/errors.ts";
import { look } from "./look.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const away = () => new UnavailableError("no answer from there", { code: "cli.no-answer" });

it("goes on looking while nobody answers, and says so once", async () => {
  let left = 2;
  const told: string[] = [];
  const read = async () => {
    left -= 1;
    if (left >= 0) throw away();
    return "seen";
  };
  const seen = look(read, { tell: (line) => void told.push(line) });
  await vi.runAllTimersAsync();
  expect(await seen).toBe("seen");
  expect(told).toEqual(["no answer from there; it is asked again"]);
});

it("gives up after minutes, and at once when it is refused", async () => {
  const caught = look(() => Promise.reject(away()), { tell: () => undefined }).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  expect(await caught).toBeInstanceOf(UnavailableError);
  const refused = new RefusedError("no", { code: "api.forbidden" });
  await expect(look(() => Promise.reject(refused), { tell: () => undefined })).rejects.toBe(refused);
});
