import { isIP, type LookupFunction } from "node:net";
import { connect } from "node:tls";

/** SHA-256 fingerprint of the certificate that a server shows, or why it shows none. */
export type Shown = { readonly kind: "shown"; readonly fingerprint: string } | { readonly kind: "nothing"; readonly error: unknown };

/**
 * The certificate that a server shows, whoever vouches for it: the same one under another name or address is the same server.
 * The signal ends the wait.
 */
export function peerCertificate(
  url: URL,
  { lookup, signal }: { readonly lookup?: LookupFunction; readonly signal: AbortSignal },
): Promise<Shown> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: "nothing", error: signal.reason });
    const socket = connect({
      host,
      port: Number(url.port || "443"),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(lookup === undefined ? {} : { lookup }),
    });
    const settle = (shown: Shown): void => {
      signal.removeEventListener("abort", giveUp);
      socket.destroy();
      resolve(shown);
    };
    // Not a timeout of the socket: each byte of an endless handshake would put that off.
    const giveUp = (): void => settle({ kind: "nothing", error: signal.reason });
    signal.addEventListener("abort", giveUp, { once: true });
    socket.once("error", (error) => settle({ kind: "nothing", error }));
    socket.once("secureConnect", () => settle({ kind: "shown", fingerprint: socket.getPeerCertificate().fingerprint256 }));
  });
}
