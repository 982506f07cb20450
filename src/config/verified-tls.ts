/**
 * Parameters of a connection string that the driver takes from elsewhere, or that give `sslmode` another meaning. One that is not there
 * needs no trust.
 */
const OTHER_WAYS: readonly string[] = ["ssl", "uselibpqcompat"];

/**
 * Why the driver would not verify, with every connection, that the server's certificate leads to a trusted authority and is for the host in
 * the connection string; `undefined` where it does. Only `sslmode=verify-full` says so for good: today the driver takes `prefer`, `require`
 * and `verify-ca` for the same, and has announced to stop that; without `sslmode` it speaks plain text.
 */
export function whyNotVerifiedTls(url: string): string | undefined {
  const { searchParams } = new URL(url);
  const modes = searchParams.getAll("sslmode");
  if (modes.length === 0) return "has no sslmode";
  // Of several the driver takes the last one; whoever reads it may not know.
  if (modes.some((mode) => mode !== "verify-full")) return "has another sslmode than verify-full";
  const other = OTHER_WAYS.find((name) => searchParams.has(name));
  return other === undefined ? undefined : `has the parameter ${other}`;
}
