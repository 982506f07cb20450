import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { ServerCertificate } from "../api/server.ts";
import type { Config } from "../config.ts";
import type { Clock, Millis } from "../domain/clock.ts";
import { rfc3339 } from "../domain/clock.ts";
import { InputError } from "../domain/errors.ts";
import type { Rng } from "../domain/rng.ts";
import { every } from "../runtime/timer/every.ts";
import type { Log } from "../telemetry/log.ts";

type TlsFiles = NonNullable<Config["listen"]["tls"]>;

/** Longest time until a renewed certificate is noticed, in ms. Kubernetes itself takes about a minute to put it into the file. */
const READ_EVERY_MS = 30_000;

/**
 * The certificate of the REST API and its key. Raises `InputError` naming the field where a file cannot be read, holds something else, or
 * the key is another certificate's.
 */
export function readApiCertificate({ certificateFile, keyFile }: TlsFiles): ServerCertificate {
  const cert = readFile("listen.tls.certificateFile", certificateFile);
  const key = readFile("listen.tls.keyFile", keyFile);
  const certificate = certificateOf(cert, certificateFile);
  if (!certificate.checkPrivateKey(keyOf(key, keyFile))) {
    throw new InputError(`the key in ${keyFile} is not that of the certificate in ${certificateFile}`, {
      code: "config.tls-file",
      path: "listen.tls.keyFile",
      remedy: "Name the two files that were made together; the server's certificate comes first in its file, and its authorities follow",
    });
  }
  checkUse({ cert, key }, certificateFile);
  return { cert, key };
}

export interface KeptCertificate {
  readonly files: TlsFiles;
  /** What is in use. */
  readonly first: ServerCertificate;
  /** Takes another one into use. What it throws leaves the former in use. */
  readonly use: (certificate: ServerCertificate) => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
}

/**
 * Reads the files again every thirty seconds at most, until the signal aborts: whoever renews a certificate writes them anew. What is
 * broken, or does not fit together, is logged once, and the former certificate stays in use.
 */
export function keepApiCertificate({ files, first, use, clock, rng, log }: KeptCertificate, signal: AbortSignal): void {
  let used = first;
  let said: string | undefined;
  warnOfDates(first, clock.now(), log);
  const readAgain = (): void => {
    try {
      const read = readApiCertificate(files);
      const isSame = read.cert === used.cert && read.key === used.key;
      if (!isSame) use(read);
      used = read;
      said = undefined;
      if (isSame) return;
      log.info({ until: rfc3339(datesOf(read).until) }, "Serving with a renewed certificate");
      warnOfDates(read, clock.now(), log);
    } catch (error) {
      const reason = error instanceof InputError ? `${error.path}: ${error.message}. ${error.remedy}` : String(error);
      if (reason !== said) log.warn({ reason }, "Keeping the former certificate");
      said = reason;
    }
  };
  every({ clock, rng, log, ms: READ_EVERY_MS, run: readAgain }, signal);
}

function readFile(path: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(`${file} cannot be read`, {
      code: "config.tls-file",
      path,
      remedy: "Name a file in PEM that Argosy may read, or leave listen.tls out to serve plain HTTP",
      cause,
    });
  }
}

function certificateOf(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw new InputError(`${file} does not begin with a certificate in PEM`, {
      code: "config.tls-file",
      path: "listen.tls.certificateFile",
      remedy: "Give the server's certificate first, and those of the authorities between it and the one that clients trust after it",
      cause,
    });
  }
}

function keyOf(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    // The library's message may quote.
    throw new InputError(`${file} holds no private key in PEM, or one with a passphrase`, {
      code: "config.tls-file",
      path: "listen.tls.keyFile",
      remedy: "Give the certificate's private key in PEM without a passphrase",
    });
  }
}

/** What only TLS itself finds: a broken certificate after the first one, a key or signature too weak for it. */
function checkUse(certificate: ServerCertificate, file: string): void {
  try {
    createSecureContext({ ...certificate });
  } catch (cause) {
    throw new InputError(`the certificates in ${file} cannot be used for TLS`, {
      code: "config.tls-file",
      path: "listen.tls.certificateFile",
      remedy: "Give certificates in PEM only, with keys of 2048 bits or more for RSA and signatures of SHA-256 or better",
      cause,
    });
  }
}

interface Dates {
  readonly from: Millis;
  readonly until: Millis;
}

function datesOf({ cert }: ServerCertificate): Dates {
  const { validFrom, validTo } = new X509Certificate(cert);
  return { from: Date.parse(validFrom) as Millis, until: Date.parse(validTo) as Millis };
}

/** Clients refuse such a certificate, and whoever asks why reads the log of the server. */
function warnOfDates(certificate: ServerCertificate, now: Millis, log: Log): void {
  const { from, until } = datesOf(certificate);
  if (until < now) log.warn({ until: rfc3339(until) }, "Serving with a certificate that has expired; renew listen.tls.certificateFile");
  if (from > now) log.warn({ from: rfc3339(from) }, "Serving with a certificate that is not valid yet; see this machine's clock");
}
