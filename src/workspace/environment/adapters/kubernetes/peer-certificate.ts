import { isIP, type LookupFunction } from "node:net";
import { connect } from "node:tls";

/**
 * SHA-256 fingerprint of the certificate that a server shows, whoever vouches for it: the same one under another name or address
 * is the same server. `undefined` when there is no handshake before the signal ends the wait.
 */
export function peerCertificate(
  url: URL,
  { lookup, signal }: { readonly lookup?: LookupFunction; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const socket = connect({
      host,
      port: Number(url.port || "443"),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(lookup === undefined ? {} : { lookup }),
    });
    const settle = (fingerprint: string | undefined): void => {
      signal.removeEventListener("abort", giveUp);
      socket.destroy();
      resolve(fingerprint);
    };
    // Not a timeout of the socket: each byte of an endless handshake would put that off.
    const giveUp = (): void => settle(undefined);
    signal.addEventListener("abort", giveUp, { once: true });
    socket.once("error", giveUp);
    socket.once("secureConnect", () => settle(socket.getPeerCertificate().fingerprint256));
  });
}
