/** Reads a key file's or variable's text: 32 bytes in base64, white space around it ignored. `undefined` when it is not that. */
export function decodeEncryptionKey(text: string): Uint8Array | undefined {
  const trimmed = text.trim();
  // Buffer skips what is not base64 instead of refusing it, so the alphabet and the length are checked first.
  if (!/^[A-Za-z0-9+/]{43}=$/.test(trimmed)) return undefined;
  const bytes = Buffer.from(trimmed, "base64");
  return bytes.length === 32 ? new Uint8Array(bytes) : undefined;
}
