import { randomInt } from "node:crypto";

/**
 * Hands out loopback addresses, each once. They come from 127.16.0.0 to 127.254.255.255 at random: several nodes on
 * one machine do not know each other, and among 15 million addresses a thousand pods hardly ever collide.
 */
export interface Addresses {
  take(): string;
  /** Marks an address as taken that a predecessor has handed out. */
  keep(address: string): void;
  release(address: string): void;
}

export function createAddresses(draw: () => string = randomAddress): Addresses {
  const taken = new Set<string>();
  return {
    take() {
      let address = draw();
      while (taken.has(address)) address = draw();
      taken.add(address);
      return address;
    },
    keep: (address) => taken.add(address),
    release: (address) => taken.delete(address),
  };
}

function randomAddress(): string {
  return `127.${randomInt(16, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
}
