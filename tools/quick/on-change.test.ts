import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { onChange } from "./on-change.ts";

it("hears of each save, also where an editor puts a new file in the place of the old one, and in folders that came later", async () => {
  const root = mkdtempSync(join(tmpdir(), "argosy-changes-"));
  const ended = new AbortController();
  onTestFinished(() => {
    ended.abort();
    rmSync(root, { recursive: true });
  });
  mkdirSync(join(root, "src", "deep"), { recursive: true });
  writeFileSync(join(root, "src", "deep", "a.ts"), "0");
  let heard = 0;
  onChange(root, () => heard++, ended.signal);
  const hears = async (save: () => void): Promise<void> => {
    const before = heard;
    save();
    await vi.waitFor(() => expect(heard).toBeGreaterThan(before), 10_000);
  };
  const replace = (): void => {
    writeFileSync(join(root, "draft"), "1");
    renameSync(join(root, "draft"), join(root, "src", "deep", "a.ts"));
  };
  await hears(() => writeFileSync(join(root, "src", "deep", "a.ts"), "1"));
  await hears(replace);
  await hears(replace);
  await hears(() => mkdirSync(join(root, "src", "later")));
  await hears(() => writeFileSync(join(root, "src", "later", "b.ts"), "1"));
  await hears(() => writeFileSync(join(root, "tsconfig.json"), "{}"));
});
