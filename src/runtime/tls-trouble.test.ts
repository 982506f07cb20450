import { expect, it } from "vitest";
import { tlsTroubleOf } from "./tls-trouble.ts";

const error = (code: string, subjectaltname?: string): Error =>
  Object.assign(new Error("no"), { code, ...(subjectaltname === undefined ? {} : { cert: { subjectaltname } }) });

it.each([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "untrusted"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "untrusted"],
  ["CERT_HAS_EXPIRED", "expired"],
  ["CERT_NOT_YET_VALID", "not-yet-valid"],
  ["CERT_REVOKED", "other"],
  ["INVALID_PURPOSE", "other"],
])("says what is wrong with a certificate: %s is %s", (code, kind) => {
  expect(tlsTroubleOf(error(code))).toEqual({ kind, names: "no host name" });
});

it("shows the names of a certificate as far as they can be printed, and not all of many", () => {
  const names = (text: string) => tlsTroubleOf(error("ERR_TLS_CERT_ALTNAME_INVALID", text));
  expect(names("DNS:db.example, IP Address:10.0.0.7")).toEqual({ kind: "other-name", names: "db.example, 10.0.0.7" });
  expect(names("DNS:a\u001b[31m\nb")?.names).toBe("a?[31m?b");
  expect(names(`DNS:${"a".repeat(1000)}`)?.names).toHaveLength(201);
});

it.each([error("ECONNREFUSED"), error("ERR_SSL_WRONG_VERSION_NUMBER"), new Error("no"), "text", undefined, { code: 7 }])(
  "says nothing about %s",
  (other) => {
    expect(tlsTroubleOf(other)).toBeUndefined();
  },
);
