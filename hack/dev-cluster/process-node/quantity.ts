const factors: Readonly<Record<string, number>> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A Kubernetes quantity as a number: `250m` is 0.25, `4Gi` 4294967296. Undefined if it is none. */
export function parseQuantity(text: string): number | undefined {
  const [, digits, suffix = ""] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$/.exec(text.trim()) ?? [];
  const factor = factors[suffix];
  const value = Number(digits);
  return digits === undefined || factor === undefined || Number.isNaN(value) ? undefined : value * factor;
}
