import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CredentialKey } from "../../../credential/port.ts";
import { createEnvelope, createKeyRing, type Sealed } from "./envelope.ts";

const keys = new Map([
  ["first", new Uint8Array(32).fill(1)],
  ["second", new Uint8Array(32).fill(2)],
  ["short", new Uint8Array(16)],
]);
const envelope = createEnvelope(createKeyRing("first", keys));
const KEY: CredentialKey = { id: "credential-1" as CredentialKey["id"], owner: "workspace-1", purpose: "git" };
const TAMPERED = expect.objectContaining({ name: "DefectError", code: "store.credential-tampered" });

function opened(key: CredentialKey, sealed: Sealed): unknown {
  try {
    return envelope.open(key, sealed);
  } catch (error) {
    return error;
  }
}

function flip(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, index) => (index === at % bytes.length ? byte ^ 1 : byte));
}

describe("an envelope", () => {
  it("opens to what was sealed, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), fc.string(), (plaintext, owner, purpose) => {
        const key = { ...KEY, owner, purpose };
        expect(envelope.open(key, envelope.seal(key, plaintext))).toBe(plaintext);
      }),
    );
  });

  it("is never the same twice, but for its fingerprint", () => {
    const [a, b] = [envelope.seal(KEY, "secret"), envelope.seal(KEY, "secret")];
    expect(Buffer.from(a.ciphertext).equals(b.ciphertext)).toBe(false);
    expect(Buffer.from(a.dataKey).equals(b.dataKey)).toBe(false);
    expect(a.fingerprint).toBe(b.fingerprint);
    expect(envelope.seal(KEY, "other").fingerprint).not.toBe(a.fingerprint);
  });

  it("does not open after any bit of it was changed, or any part cut off", () => {
    const sealed = envelope.seal(KEY, "secret");
    fc.assert(
      fc.property(fc.nat(200), fc.constantFrom("dataKey" as const, "ciphertext" as const), fc.boolean(), (at, part, isCut) => {
        const bytes = sealed[part];
        const changed = isCut ? bytes.subarray(0, at % bytes.length) : flip(bytes, at);
        expect(opened(KEY, { ...sealed, [part]: changed })).toEqual(TAMPERED);
      }),
    );
    expect(opened(KEY, { ...sealed, keyId: "second" })).toEqual(TAMPERED);
  });

  it("does not open for another id, owner or purpose, however they are cut", () => {
    const sealed = envelope.seal({ ...KEY, owner: "a|b", purpose: "c" }, "secret");
    for (const over of [
      { id: "credential-2" as CredentialKey["id"] },
      { owner: "a", purpose: "b|c" },
      { owner: "other" },
      { purpose: "cluster" },
    ]) {
      expect(opened({ ...KEY, owner: "a|b", purpose: "c", ...over }, sealed)).toEqual(TAMPERED);
    }
  });

  it("can be wrapped anew without being sealed anew", () => {
    const sealed = envelope.seal(KEY, "secret");
    const next = createEnvelope(createKeyRing("second", keys));
    const rewrapped = next.rewrap(KEY, sealed);
    expect(rewrapped.keyId).toBe("second");
    expect(Buffer.from(rewrapped.ciphertext).equals(sealed.ciphertext)).toBe(true);
    expect(rewrapped.fingerprint).toBe(next.seal(KEY, "secret").fingerprint);
    expect(createEnvelope(createKeyRing("second", new Map([["second", new Uint8Array(32).fill(2)]]))).open(KEY, rewrapped)).toBe("secret");
    expect(() => next.rewrap({ ...KEY, owner: "other" }, sealed)).toThrow(TAMPERED);
  });

  it("says which key is missing, and never what a key is", () => {
    const sealed = envelope.seal(KEY, "secret");
    expect(opened(KEY, { ...sealed, keyId: "gone" })).toMatchObject({
      name: "InputError",
      code: "store.encryption-key",
      path: "encryption.keys",
      context: { key: "gone" },
    });
    expect(opened(KEY, { ...sealed, keyId: "short" })).toMatchObject({ message: expect.stringContaining("16 bytes") });
    expect(() => createEnvelope(createKeyRing("gone", keys)).seal(KEY, "secret")).toThrow("gone");
  });
});
