import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import { engineCertificates, nextCertificateStep, parseCertificates, SECRET_PURPOSES, secretKeyOf } from "./instance-secrets.ts";
import { someParameters } from "./testing/parameters.ts";

const id = "00000000-0000-7000-8000-000000000001" as InstanceId;
const { certificates } = someParameters().secrets;
const STORED = { authority: "authority", server: certificates.server, client: certificates.client, notAfter: millis(4_102_444_800_000) };

describe("secrets of an instance", () => {
  it("have ids that follow from the instance and the purpose", () => {
    const ids = SECRET_PURPOSES.map((purpose) => secretKeyOf(id, purpose).id);
    expect(ids).toEqual(SECRET_PURPOSES.map((purpose) => secretKeyOf(id, purpose).id));
    expect(new Set(ids).size).toBe(SECRET_PURPOSES.length);
    for (const one of ids) expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  describe("certificates", () => {
    const day = 86_400_000;
    const at = (days: number) => millis(days * day);
    /** The day of this instance in each thirty. */
    const its = Array.from({ length: 30 }, (_, index) => index).find((index) => step(legacy(at(20_000)), index) !== "keep") ?? -1;
    const authority = (madeAt: number) => ({ ...certificates.server, madeAt: at(madeAt), notAfter: at(madeAt + 360) });
    const made = (madeAt: number, next?: ReturnType<typeof authority>) => ({
      ...{ ...STORED, madeAt: at(madeAt), notAfter: at(madeAt + 180) },
      ...(next === undefined ? {} : { next }),
    });
    function legacy(notAfter: Millis) {
      return { ...STORED, notAfter };
    }
    function step(stored: Parameters<typeof nextCertificateStep>[0], days: number): string {
      return nextCertificateStep(stored, id, at(days)).kind;
    }

    it("are renewed on the instance's day once they are sixty days old, by the authority that was announced", () => {
      const stored = made(0, authority(0));
      const steps = Array.from({ length: 120 }, (_, days) => step(stored, days));
      expect(steps.flatMap((kind, days) => (kind === "keep" ? [] : [`${kind} ${days}`]))).toEqual([
        `renew ${60 + its}`,
        `renew ${90 + its}`,
      ]);
      expect(nextCertificateStep(stored, id, at(60 + its))).toEqual({ kind: "renew", authority: stored.next });
    });

    it("are renewed on any day when less than sixty days are left", () => {
      expect([119, 121, 179, 200].map((days) => step(made(0, authority(0)), days)).slice(1)).toEqual(["renew", "renew", "anew"]);
    });

    it("of a version that made them for five years get an authority to trust first, each instance on a day of its own", () => {
      const before = legacy(at(5 * 365));
      const steps = Array.from({ length: 60 }, (_, days) => step(before, days));
      expect(steps.flatMap((kind, days) => (kind === "keep" ? [] : [`${kind} ${days}`]))).toEqual([
        `announce ${its}`,
        `announce ${30 + its}`,
      ]);
      const announced = { ...before, next: authority(its) };
      expect(step(announced, its)).toBe("keep");
      expect(step(announced, its + 30)).toBe("renew");
      const days = new Set(
        Array.from({ length: 300 }, (_, index) => {
          const other = `00000000-0000-7000-8000-${String(index).padStart(12, "0")}` as InstanceId;
          return Array.from({ length: 30 }, (_each, one) => one).find((one) => nextCertificateStep(before, other, at(one)).kind !== "keep");
        }),
      );
      expect(days.size).toBe(30);
    });

    it("announce an authority while there is time for it, and do without when there is not", () => {
      expect(step(legacy(at(50)), 1)).toBe("announce");
      expect(step(legacy(at(8)), 0)).toBe("announce");
      expect(step(legacy(at(6)), 0)).toBe("anew");
      // One that was announced, and ends before what it would sign.
      expect(step(made(0, { ...authority(0), notAfter: at(200) }), 150)).toBe("announce");
    });

    it("are given away without the key of an authority", () => {
      const given = engineCertificates(made(0, { ...authority(0), key: "the next authority's key" }));
      expect(given.authorities).toBe("authority\nserver certificate\n");
      expect(engineCertificates({ ...STORED, previous: "before\n" }).authorities).toBe("before\nauthority\n");
      expect(engineCertificates(STORED).authorities).toBe("authority");
      expect(JSON.stringify(given)).not.toContain("the next authority's key");
    });
  });

  it("are parsed as they were written, and any other text is refused", () => {
    expect(parseCertificates(JSON.stringify(STORED))).toEqual(STORED);
    const next = { ...certificates.server, madeAt: 1, notAfter: 2 };
    expect(parseCertificates(JSON.stringify({ ...STORED, previous: "before", madeAt: 1, next }))).toEqual({
      ...{ ...STORED, previous: "before", madeAt: 1, next },
    });
    // What announces an authority is of a later version: what a version cannot read it does without.
    expect(parseCertificates(JSON.stringify({ ...STORED, next: { ...next, key: 1 } }))).toEqual(STORED);
    for (const text of [
      undefined,
      "",
      "null",
      "{}",
      "[]",
      "certificates",
      ...["authority", "server", "client", "notAfter"].map((name) => JSON.stringify({ ...STORED, [name]: undefined })),
      JSON.stringify({ ...STORED, authority: 1 }),
      JSON.stringify({ ...STORED, notAfter: "soon" }),
      JSON.stringify({ ...STORED, server: {} }),
      JSON.stringify({ ...STORED, server: { ...STORED.server, key: 1 } }),
      JSON.stringify({ ...STORED, client: { ...STORED.client, certificate: 1 } }),
      JSON.stringify({ ...STORED, client: null }),
    ]) {
      expect(parseCertificates(text), text).toBeUndefined();
    }
  });
});
