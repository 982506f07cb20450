import { connect } from "node:tls";
import { RefusedError } from "../domain/errors.ts";
import { type TlsTrouble, tlsTroubleOf } from "../runtime/tls-trouble.ts";

/** How long a server is waited for that may speak TLS, in ms. */
const HANDSHAKE_MS = 5_000;

/**
 * Why no connection came about although something listens at the address, where that is clear and does not pass by itself: a certificate
 * that proves nothing, or one side that speaks HTTPS and the other plain HTTP. `cause` is what lies beneath the error of `fetch`.
 */
export async function whyNoConnection(url: string, cause: unknown): Promise<RefusedError | undefined> {
  const { code = "" } = (cause ?? {}) as { readonly code?: string };
  const context = { tls: code };
  const trouble = tlsTroubleOf(cause);
  if (trouble !== undefined)
    return new RefusedError(`the certificate of ${url} ${troubleText(trouble)}`, { code: "cli.untrusted", context });
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") {
    const text = `the server at ${url} speaks plain HTTP; write http:// into ARGOSY_URL, or let it serve HTTPS`;
    return new RefusedError(text, { code: "cli.scheme", context });
  }
  if (/^ERR_(SSL|TLS)_/.test(code)) {
    const text = `no secure connection to ${url} came about (${code}); see what serves TLS there`;
    return new RefusedError(text, { code: "cli.untrusted", context });
  }
  const isCut = code === "UND_ERR_SOCKET" || code === "ECONNRESET";
  if (isCut && new URL(url).protocol === "http:" && (await speaksTls(url)))
    return new RefusedError(`the server at ${url} speaks HTTPS; write https:// into ARGOSY_URL`, { code: "cli.scheme", context });
  return undefined;
}

function troubleText({ kind, names }: TlsTrouble): string {
  switch (kind) {
    case "untrusted":
      return "is signed by no authority that is trusted here; name the file with its authority's certificate with --certificate-authority or ARGOSY_CA";
    case "other-name":
      return `is for ${names}; write a name it is for into ARGOSY_URL`;
    case "expired":
      return "has expired; renew it there, and see whether the time is right here";
    case "not-yet-valid":
      return "is not valid yet; see whether the time is right here and there";
    case "other":
      return "cannot be accepted; give the server another one";
  }
}

/** Whether a TLS handshake comes about, with whatever certificate: nothing is sent over it. */
function speaksTls(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return new Promise((resolve) => {
    const socket = connect({ host, port: port === "" ? 80 : Number(port), rejectUnauthorized: false, timeout: HANDSHAKE_MS });
    const end = (speaks: boolean): void => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once("secureConnect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
    socket.once("close", () => resolve(false));
  });
}
