import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type CertificateContent, issueCertificate } from "./certificate.ts";

const CONTENT: CertificateContent = {
  subject: { commonName: "an authority" },
  from: Date.UTC(2026, 0, 1, 12, 0, 0, 700),
  until: Date.UTC(2036, 0, 1, 12, 0, 0, 700),
  purposes: ["authority"],
};

describe("certificates", () => {
  it("sign themselves when nobody else does", () => {
    const { cert, key } = issueCertificate({ ...CONTENT, purposes: ["authority", "server"], names: ["a.example", "127.0.0.1"] });
    const parsed = new X509Certificate(cert);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(parsed.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    expect([parsed.subject, parsed.issuer, parsed.ca]).toEqual(["CN=an authority", "CN=an authority", true]);
    expect(parsed.subjectAltName).toBe("DNS:a.example, IP Address:127.0.0.1");
    expect(
      cert
        .trimEnd()
        .split("\n")
        .every((line) => line.length <= 64),
    ).toBe(true);
    expect(cert.endsWith("-----END CERTIFICATE-----\n")).toBe(true);
  });

  it("name their subject, issuer, purposes and names, and no authority that they are not", () => {
    const authority = issueCertificate({ ...CONTENT, subject: { commonName: "größte", organizations: ["first", "second"] } });
    const leaf = issueCertificate({ ...CONTENT, subject: { commonName: "ä leaf" }, purposes: ["server", "client"] }, authority);
    const [issuer, parsed] = [new X509Certificate(authority.cert), new X509Certificate(leaf.cert)];
    expect(issuer.subject).toBe("O=first\nO=second\nCN=größte");
    expect([parsed.subject, parsed.issuer, parsed.ca]).toEqual(["CN=ä leaf", issuer.subject, false]);
    expect(parsed.checkIssued(issuer)).toBe(true);
    expect(parsed.verify(issuer.publicKey)).toBe(true);
    expect(parsed.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
    expect(parsed.subjectAltName).toBeUndefined();
  });

  it.each([
    [Date.UTC(2049, 11, 31, 23, 59, 59, 999), "491231235959Z"],
    [Date.UTC(2050, 0, 1), "20500101000000Z"],
    [Date.UTC(2050, 0, 1, 0, 0, 0, 999), "20500101000000Z"],
  ])("write %d ms as whole seconds, with four digits of the year from 2050 on", (until, text) => {
    const parsed = new X509Certificate(issueCertificate({ ...CONTENT, until }).cert);
    expect(parsed.raw.toString("latin1")).toContain(text);
    expect(Date.parse(parsed.validTo)).toBe(Math.floor(until / 1000) * 1000);
    expect(Date.parse(parsed.validFrom)).toBe(Date.UTC(2026, 0, 1, 12));
  });

  it("have a positive serial number of 127 bits and a key of their own each time", () => {
    const made = Array.from({ length: 50 }, () => issueCertificate(CONTENT));
    for (const { cert } of made) expect(new X509Certificate(cert).serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    expect(new Set(made.map(({ cert }) => new X509Certificate(cert).serialNumber)).size).toBe(made.length);
    expect(new Set(made.map(({ key }) => key)).size).toBe(made.length);
  });
});
