import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findStateDirectory, fullDiskError, openStateDirectory } from "./state-directory.ts";

let parent: string;
beforeAll(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), "argosy-up-")));
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe("the state directory", () => {
  it("is made with its parents, and opened again as it is", () => {
    const state = openStateDirectory(join(parent, "a", "b"));
    expect(readdirSync(state.root).sort()).toEqual(["bin", "log"]);
    state.write("kept", "text");
    expect(openStateDirectory(state.root).read("kept")).toBe("text");
  });

  it("keeps files with the given mode and returns undefined for missing ones", () => {
    const state = openStateDirectory(join(parent, "files"));
    state.write("secret", "s", 0o600);
    expect(statSync(state.path("secret")).mode & 0o777).toBe(0o600);
    state.remove("secret");
    state.remove("secret");
    expect(state.read("secret")).toBeUndefined();
  });

  it("cannot be a file or lie below one", () => {
    const file = join(parent, "file");
    writeFileSync(file, "");
    for (const root of [file, join(file, "below")]) {
      expect(() => openStateDirectory(root)).toThrow(expect.objectContaining({ code: "up.state", path: "--state" }));
    }
  });

  it.skipIf(!statSync("/proc", { throwIfNoEntry: false }))("cannot be where nothing can be created", () => {
    expect(() => openStateDirectory("/proc/argosy")).toThrow(/cannot be written/);
  });

  it("is named in the error when its disk is full, and only then", () => {
    const state = openStateDirectory(join(parent, "full"));
    const full = new Error("starting", { cause: Object.assign(new Error("write"), { code: "ENOSPC" }) });
    expect(fullDiskError(state, full)).toMatchObject({ code: "up.state", message: `${state.root} is on a full disk` });
    const other = new Error("starting", { cause: new Error("write") });
    expect(fullDiskError(state, other)).toBe(other);
  });

  it("is opened without any change on request", () => {
    expect(findStateDirectory(join(parent, "nowhere"))).toBeUndefined();
    expect(readdirSync(parent)).not.toContain("nowhere");
    expect(findStateDirectory(parent)?.root).toBe(parent);
  });
});
