import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretInventory, findSecrets } from "./secrets.ts";

const SECRET = "kx9-Qr7/very+secret";

function found(text: string, value = SECRET): readonly string[] {
  const inventory = createSecretInventory();
  inventory.keep("a password", value);
  return findSecrets(inventory.all(), [{ where: "a log", text }]);
}

describe("the secrets of a run", () => {
  it("are found in what was produced, and named without their value", () => {
    expect(found(`said ${SECRET}!`)).toEqual(["a password in a log"]);
    expect(found("said nothing")).toEqual([]);
  });

  it.each([
    ["a URL", encodeURIComponent(SECRET)],
    ["bytes of a row", Buffer.from(`x${SECRET}`).toString("hex")],
  ])("are found in %s", (_, text) => {
    expect(found(text)).toHaveLength(1);
  });

  it("are found in the base64 of any text around them", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(found(Buffer.from(before + SECRET + after).toString("base64"))).toHaveLength(1);
      }),
    );
  });

  it("are found by one line of a key", () => {
    const line = "MHcCAQEEIBkg4LVWM9nuwNSk3yByxZpYRTBnVJk5GkMpGHmN0PJDoAoGCCqGSM49";
    expect(found(`"${line}\\n"`, `-----BEGIN EC PRIVATE KEY-----\n${line}\n-----END EC PRIVATE KEY-----\n`)).toHaveLength(1);
  });

  it("are refused where they are too short to be recognised", () => {
    expect(() => found("", "first")).toThrow(/less than 12/);
  });
});
