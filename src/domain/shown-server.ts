/** What gave an API server away when somebody read it last. */
export interface ShownServer {
  /** Its URL. */
  readonly server: string;
  /** Its host, and each address that led to, with the port. */
  readonly listeners: readonly string[];
  /** SHA-256 fingerprint of what it proves itself by; absent for one without TLS. */
  readonly certificate: string | undefined;
}
