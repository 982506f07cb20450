import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ServerCertificate } from "../api/server.ts";
import type { KeyPair } from "../runtime/certificate.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { aServerCertificate } from "../runtime/testing/certificates.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { type Log, type LogFields, silentLog } from "../telemetry/log.ts";
import { keepApiCertificate, readApiCertificate } from "./api-certificate.ts";

const [first, second] = [aServerCertificate(["argosy.example"]), aServerCertificate(["argosy.example"])];

const BROKEN = "-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n";

let directory: string;
let files: { readonly certificateFile: string; readonly keyFile: string };
const write = (cert: string, key: string): void => {
  writeFileSync(files.certificateFile, cert);
  writeFileSync(files.keyFile, key);
};
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "argosy-tls-"));
  files = { certificateFile: join(directory, "tls.crt"), keyFile: join(directory, "tls.key") };
  write(first.cert, first.key);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("the certificate of the API", () => {
  it("is read with its key, and with the authorities after it", () => {
    write(first.cert + second.cert, first.key);
    expect(readApiCertificate(files)).toEqual({ cert: first.cert + second.cert, key: first.key });
  });

  it.each([
    ["a certificate that is not there", "certificateFile", () => rmSync(files.certificateFile), /tls\.crt cannot be read/],
    ["a key that is not there", "keyFile", () => rmSync(files.keyFile), /tls\.key cannot be read/],
    ["a file that is no certificate", "certificateFile", () => write(first.key, first.key), /does not begin with a certificate in PEM/],
    ["an empty file", "certificateFile", () => write("", first.key), /does not begin with a certificate in PEM/],
    ["a file that is no key", "keyFile", () => write(first.cert, first.cert), /holds no private key in PEM/],
    ["the key of another certificate", "keyFile", () => write(first.cert, second.key), /is not that of the certificate in .*tls\.crt/],
    ["a broken certificate after a good one", "certificateFile", () => write(first.cert + BROKEN, first.key), /cannot be used for TLS/],
    ["a file in which the authority comes first", "keyFile", () => write(second.cert + first.cert, first.key), /is not that of/],
  ])("is refused with the field and what to do: %s", (_, field, arrange, message) => {
    arrange();
    expect(() => readApiCertificate(files)).toThrowError(
      expect.objectContaining({
        code: "config.tls-file",
        path: `listen.tls.${field}`,
        message: expect.stringMatching(message),
        remedy: expect.stringMatching(/^(Name|Give) /),
      }),
    );
  });
});

describe("keeping the certificate of the API", () => {
  let clock: VirtualClock;
  let said: { readonly level: string; readonly message: string; readonly fields: LogFields }[];
  let used: ServerCertificate[];
  const ending = (): AbortController => {
    const log: Log = {
      ...silentLog,
      info: (fields, message) => void said.push({ level: "info", message, fields }),
      warn: (fields, message) => void said.push({ level: "warn", message, fields }),
    };
    const controller = new AbortController();
    const use = (certificate: ServerCertificate): void => void used.push(certificate);
    keepApiCertificate({ files, first: readApiCertificate(files), use, clock, rng: createSeededRng(1), log }, controller.signal);
    return controller;
  };
  beforeEach(() => {
    clock = createVirtualClock(Date.now());
    [said, used] = [[], []];
  });

  it("takes a renewed one into use within thirty seconds, once", async () => {
    ending();
    await clock.advance(60_000);
    expect([used, said]).toEqual([[], []]);
    write(second.cert, second.key);
    await clock.advance(30_000);
    expect(used).toEqual([{ cert: second.cert, key: second.key }]);
    await clock.advance(300_000);
    expect(used).toHaveLength(1);
    expect(said).toEqual([{ level: "info", message: "Serving with a renewed certificate", fields: { until: expect.any(String) } }]);
  });

  it("keeps the former while what is there is broken, says so once, and takes what is right after that", async () => {
    ending();
    write(second.cert, first.key);
    await clock.advance(300_000);
    expect(used).toEqual([]);
    expect(said).toEqual([
      {
        level: "warn",
        message: "Keeping the former certificate",
        fields: { reason: expect.stringMatching(/^listen\.tls\.keyFile: the key in .* Name the two files that were made together/) },
      },
    ]);
    rmSync(files.keyFile);
    await clock.advance(60_000);
    expect(said[1]?.fields["reason"]).toContain("cannot be read");
    write(second.cert, second.key);
    await clock.advance(30_000);
    expect(used).toEqual([{ cert: second.cert, key: second.key }]);
  });

  it("tries one again that could not be used", async () => {
    const log: Log = { ...silentLog, warn: (fields, message) => void said.push({ level: "warn", message, fields }) };
    let isRefused = true;
    const use = (certificate: ServerCertificate): void => {
      if (isRefused) throw new Error("not today");
      used.push(certificate);
    };
    const first = readApiCertificate(files);
    keepApiCertificate({ files, first, use, clock, rng: createSeededRng(1), log }, new AbortController().signal);
    write(second.cert, second.key);
    await clock.advance(90_000);
    expect(said.map(({ fields }) => fields["reason"])).toEqual(["Error: not today"]);
    isRefused = false;
    await clock.advance(30_000);
    expect(used).toHaveLength(1);
  });

  it("warns of one that has expired, and reads nothing after the end", async () => {
    const gone: KeyPair = aServerCertificate(["argosy.example"], undefined, Date.now() - 60_000);
    write(gone.cert, gone.key);
    const controller = ending();
    expect(said).toEqual([{ level: "warn", message: expect.stringContaining("has expired"), fields: { until: expect.any(String) } }]);
    controller.abort();
    expect(clock.nextAt()).toBeUndefined();
  });
});
