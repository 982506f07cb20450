/** Whether a text is a CIDR range as NetworkPolicies accept it: IPv4 or IPv6, with no bit set beyond the prefix. */
export function isAddressRange(text: string): boolean {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const bytes = address.includes(":") ? parseV6(address) : parseV4(address);
  const length = /^(0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (bytes === undefined || rest.length > 0 || !(length <= bytes.length * 8)) return false;
  return bytes.every((byte, index) => (byte & hostMask(length - index * 8)) === 0);
}

/** The bits of one byte that lie beyond the prefix, where `bits` of the byte belong to the prefix. */
function hostMask(bits: number): number {
  return bits >= 8 ? 0 : bits <= 0 ? 0xff : 0xff >> bits;
}

function parseV4(text: string): readonly number[] | undefined {
  const parts = text.split(".");
  const isValid = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
  return isValid ? parts.map(Number) : undefined;
}

function parseV6(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  if (!groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) return undefined;
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}
