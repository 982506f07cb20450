import { describe, expect, it } from "vitest";
import { DefectError } from "../../../domain/errors.ts";
import type { CredentialKey } from "../../credential/port.ts";
import { soon, type World } from "../world.ts";

const KEY: CredentialKey = { id: "credential-1" as CredentialKey["id"], owner: "workspace-1", purpose: "git" };

export function describeCredentials(world: () => World): void {
  describe("credentials", () => {
    it("are read as they were stored, and replaced", async () => {
      const { credentials } = world().store;
      expect(await credentials.read(KEY, soon())).toBeUndefined();
      await credentials.put(KEY, "first é\n", soon());
      expect(await credentials.read(KEY, soon())).toBe("first é\n");
      await credentials.put(KEY, "", soon());
      expect(await credentials.read(KEY, soon())).toBe("");
    });

    it("have the same fingerprint when they are the same, whoever's they are", async () => {
      const { credentials } = world().store;
      const first = await credentials.put(KEY, "secret", soon());
      const other = { ...KEY, id: "credential-2" as CredentialKey["id"], owner: "workspace-2" };
      expect(await credentials.put(other, "secret", soon())).toBe(first);
      expect(await credentials.put(other, "Secret", soon())).not.toBe(first);
      expect(first).not.toContain("secret");
    });

    it("stay as the first one stored them when several store at once", async () => {
      const { credentials } = world().store;
      const answers = await Promise.all(["a", "b", "c", "d", "e"].map((plaintext) => credentials.putIfAbsent(KEY, plaintext, soon())));
      expect(new Set(answers).size).toBe(1);
      expect(await credentials.putIfAbsent(KEY, "late", soon())).toBe(answers[0]);
      expect(await credentials.read(KEY, soon())).toBe(answers[0]);
    });

    it("are of no use for anything they were not stored for", async () => {
      const { credentials } = world().store;
      await credentials.put(KEY, "secret", soon());
      for (const wrong of [
        { ...KEY, owner: "workspace-2" },
        { ...KEY, purpose: "cluster" },
      ]) {
        await expect(credentials.read(wrong, soon())).rejects.toBeInstanceOf(DefectError);
        await expect(credentials.put(wrong, "other", soon())).rejects.toBeInstanceOf(DefectError);
        await expect(credentials.putIfAbsent(wrong, "other", soon())).rejects.toBeInstanceOf(DefectError);
        await expect(credentials.remove(wrong, soon())).rejects.toBeInstanceOf(DefectError);
      }
      expect(await credentials.read(KEY, soon())).toBe("secret");
    });

    it("are gone when they were removed, and need no new wrapping under the current key", async () => {
      const { credentials } = world().store;
      await credentials.put(KEY, "secret", soon());
      expect(await credentials.rewrap({ after: "", limit: 10 }, soon())).toEqual({ rewrapped: 0, unreadable: [], next: undefined });
      expect(await credentials.countByKey(soon())).toEqual([{ keyId: expect.any(String), credentials: 1 }]);
      await credentials.remove(KEY, soon());
      await credentials.remove(KEY, soon());
      expect(await credentials.read(KEY, soon())).toBeUndefined();
      expect(await credentials.countByKey(soon())).toEqual([]);
    });
  });
}
