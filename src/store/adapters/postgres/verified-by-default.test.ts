import { describe, expect, it } from "vitest";
import { connectionSettings } from "./connection-settings.ts";
import { verifiedByDefault } from "./verified-by-default.ts";

describe("a connection string that says nothing about TLS", () => {
  it.each([
    ["postgres://u:p@db.example/x", "postgres://u:p@db.example/x?sslmode=verify-full"],
    ["postgres://u:p@10.0.0.7:5432/x?a=b", "postgres://u:p@10.0.0.7:5432/x?a=b&sslmode=verify-full"],
    ["postgresql://u@[fd00::1]/x?sslrootcert=/ca.crt", "postgresql://u@[fd00::1]/x?sslrootcert=/ca.crt&sslmode=verify-full"],
    // Names that only begin like this machine's.
    ["postgres://u@localhost.example/x", "postgres://u@localhost.example/x?sslmode=verify-full"],
    ["postgres://u@127.example/x", "postgres://u@127.example/x?sslmode=verify-full"],
    // The driver goes where the parameter says.
    ["postgres://u@localhost/x?host=db.example", "postgres://u@localhost/x?host=db.example&sslmode=verify-full"],
    ["postgres://u@localhost/x?host=/tmp&host=db.example", "postgres://u@localhost/x?host=/tmp&host=db.example&sslmode=verify-full"],
  ])("verifies the server of %s", (url, verified) => {
    expect(verifiedByDefault(url)).toBe(verified);
    expect(connectionSettings(url.replace("/ca.crt", "/etc/ssl/certs/ca-certificates.crt")).connectionString).toContain("verify-full");
  });

  it.each([
    "postgres://u:p@localhost:5432/x",
    "postgres://u@127.0.0.1/x",
    "postgres://u@127.9.8.7/x",
    "postgres://u@[::1]/x",
    "postgres:///x",
    "postgres://%2Fvar%2Frun%2Fpostgresql/x",
    "postgres://u@db.example/x?host=/var/run/postgresql",
  ])("leaves this machine's %s", (url) => expect(verifiedByDefault(url)).toBe(url));

  it.each(["sslmode=disable", "sslmode=no-verify", "ssl=true", "a=b&sslmode=require"])("leaves what is said: %s", (parameters) => {
    expect(verifiedByDefault(`postgres://u@db.example/x?${parameters}`)).toBe(`postgres://u@db.example/x?${parameters}`);
  });
});
