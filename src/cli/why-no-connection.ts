import { connect, type PeerCertificate } from "node:tls";
import { RefusedError } from "../domain/errors.ts";

/** What the libraries say of a certificate whose signature leads to nobody who is trusted. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** How long a server is waited for that may speak TLS, in ms. */
const HANDSHAKE_MS = 5_000;
/** Names of a certificate that are shown, in characters: a server may give any number of them. */
const SHOWN_NAMES = 200;

interface Cause {
  readonly code?: string;
  readonly cert?: PeerCertificate;
}

/**
 * Why no connection came about although something listens at the address, where that is clear and does not pass by itself: a certificate
 * that proves nothing, or one side that speaks HTTPS and the other plain HTTP. `cause` is what lies beneath the error of `fetch`.
 */
export async function whyNoConnection(url: string, cause: unknown): Promise<RefusedError | undefined> {
  const { code = "", cert } = (cause ?? {}) as Cause;
  const refuse = (error: { readonly code: string }, text: string): RefusedError =>
    new RefusedError(text, { ...error, context: { tls: code } });
  if (UNTRUSTED.has(code)) {
    const remedy = "name the file with its authority's certificate with --certificate-authority or ARGOSY_CA";
    return refuse({ code: "cli.untrusted" }, `the certificate of ${url} is signed by no authority that is trusted here; ${remedy}`);
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return refuse({ code: "cli.untrusted" }, `the certificate of ${url} is for ${namesOf(cert)}; write a name it is for into ARGOSY_URL`);
  if (code === "CERT_HAS_EXPIRED")
    return refuse(
      { code: "cli.untrusted" },
      `the certificate of ${url} has expired; renew it there, and see whether the time is right here`,
    );
  if (code === "CERT_NOT_YET_VALID")
    return refuse({ code: "cli.untrusted" }, `the certificate of ${url} is not valid yet; see whether the time is right here and there`);
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return refuse({ code: "cli.scheme" }, `the server at ${url} speaks plain HTTP; write http:// into ARGOSY_URL, or let it serve HTTPS`);
  if (/^(CERT_|ERR_SSL_|ERR_TLS_)/.test(code))
    return refuse({ code: "cli.untrusted" }, `no secure connection to ${url} came about (${code}); correct the server's certificate`);
  const isCut = code === "UND_ERR_SOCKET" || code === "ECONNRESET";
  if (isCut && new URL(url).protocol === "http:" && (await speaksTls(url)))
    return refuse({ code: "cli.scheme" }, `the server at ${url} speaks HTTPS; write https:// into ARGOSY_URL`);
  return undefined;
}

/** What a certificate is for; its text is a stranger's. */
function namesOf(cert: PeerCertificate | undefined): string {
  const names = (cert?.subjectaltname ?? "").replace(/(DNS|IP Address):/g, "").replace(/[^ -~]/g, "?");
  if (names === "") return "no host name";
  return names.length > SHOWN_NAMES ? `${names.slice(0, SHOWN_NAMES)}…` : names;
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
