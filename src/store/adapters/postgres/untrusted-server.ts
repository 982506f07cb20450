import { InputError } from "../../../domain/errors.ts";
import { type TlsTrouble, tlsTroubleOf } from "../../../runtime/tls-trouble.ts";

/**
 * What is wrong with a server that the address asks for TLS, and that is not shown to be the one in the address; nothing was sent to it.
 * `undefined` where `error`, as the driver raised it, is about something else.
 */
export function untrustedServer(error: unknown): InputError | undefined {
  const refuse = (what: string, remedy: string): InputError =>
    new InputError(`connecting to the database: ${what}`, { code: "store.untrusted", path: "database.url", remedy, cause: error });
  const trouble = tlsTroubleOf(error);
  if (trouble !== undefined) return refuse(`its certificate ${troubleText(trouble)}`, remedyOf(trouble));
  // The driver has a message for it, and no code.
  return error instanceof Error && error.message === "The server does not support SSL connections"
    ? refuse(
        "it offers no TLS, and the address asks for it",
        "Turn TLS on at the server; the address of another machine asks for it unless it has sslmode=disable",
      )
    : undefined;
}

function troubleText({ kind, names }: TlsTrouble): string {
  switch (kind) {
    case "untrusted":
      return "is signed by no authority that is trusted here";
    case "other-name":
      return `is for ${names}, which is not the host in the address`;
    case "expired":
      return "has expired";
    case "not-yet-valid":
      return "is not valid yet";
    case "other":
      return "cannot be accepted";
  }
}

function remedyOf({ kind }: TlsTrouble): string {
  switch (kind) {
    case "untrusted":
      return "Name the file with its authority's certificate with sslrootcert=/path in DATABASE_URL";
    case "other-name":
      return "Correct the host in DATABASE_URL, or give the server a certificate for that host";
    case "expired":
    case "not-yet-valid":
      return "Give the server a certificate that is valid now, and see whether the time is right here";
    case "other":
      return "Give the server another certificate; the cause says what is wrong with this one";
  }
}
