import { embeddedIpv4, isInRange, parseAddress, parseRange } from "../address.ts";

const LOOPBACK = parseRange("127.0.0.0/8");

/**
 * What makes two mentions of an address and port the same listener: however the address is written, and wherever on loopback
 * it is. Text that is no address stands for itself.
 */
export function endpointKey(address: string, port: number): string {
  const parsed = parseAddress(address);
  if (parsed === undefined) return `${address.toLowerCase().replace(/\.$/, "")}|${port}`;
  const real = embeddedIpv4(parsed) ?? parsed;
  const isLoopback = (real.bits === 128 && real.value === 1n) || (LOOPBACK !== undefined && isInRange(real, LOOPBACK));
  return isLoopback ? `loopback|${port}` : `${real.bits}:${real.value}|${port}`;
}
