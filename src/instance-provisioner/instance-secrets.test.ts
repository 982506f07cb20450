import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import { isValidFor, parseCertificates, SECRET_PURPOSES, secretKeyOf, validityAt } from "./instance-secrets.ts";
import { someParameters } from "./testing/parameters.ts";

const id = "00000000-0000-7000-8000-000000000001" as InstanceId;
const { certificates } = someParameters().secrets;

describe("secrets of an instance", () => {
  it("have ids that follow from the instance and the purpose", () => {
    const ids = SECRET_PURPOSES.map((purpose) => secretKeyOf(id, purpose).id);
    expect(ids).toEqual(SECRET_PURPOSES.map((purpose) => secretKeyOf(id, purpose).id));
    expect(new Set(ids).size).toBe(SECRET_PURPOSES.length);
    for (const one of ids) expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("last for years, and are renewed a year before they expire", () => {
    const { until } = validityAt(millis(0));
    const made = { ...certificates, notAfter: until };
    const year = 365 * 86_400_000;
    expect([
      isValidFor(made, millis(0)),
      isValidFor(made, millis(until - year)),
      isValidFor(made, millis(until - year + 1)),
      isValidFor(undefined, millis(0)),
    ]).toEqual([true, true, false, false]);
  });

  it("are parsed as they were written, and any other text is refused", () => {
    expect(parseCertificates(JSON.stringify(certificates))).toEqual(certificates);
    for (const text of [
      undefined,
      "",
      "null",
      "{}",
      "[]",
      "certificates",
      ...["authority", "server", "client", "notAfter"].map((name) => JSON.stringify({ ...certificates, [name]: undefined })),
      JSON.stringify({ ...certificates, authority: 1 }),
      JSON.stringify({ ...certificates, notAfter: "soon" }),
      JSON.stringify({ ...certificates, server: {} }),
      JSON.stringify({ ...certificates, server: { ...certificates.server, key: 1 } }),
      JSON.stringify({ ...certificates, client: { ...certificates.client, certificate: 1 } }),
      JSON.stringify({ ...certificates, client: null }),
    ]) {
      expect(parseCertificates(text), text).toBeUndefined();
    }
  });
});
