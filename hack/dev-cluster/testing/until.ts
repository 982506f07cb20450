const timeoutMs = 90_000;
const pollMs = 50;

/** Reads until the value is as wanted, and returns it. Fails with the last value read. A read that fails counts as not yet. */
export async function until<T>(what: string, read: () => Promise<T> | T, isReached: (value: T) => boolean): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const last = await attempt(read);
    if ("value" in last && isReached(last.value)) return last.value;
    if (performance.now() > giveUpAt) throw new Error(`never saw ${what}; last: ${JSON.stringify(last, undefined, 1)?.slice(0, 3000)}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function attempt<T>(read: () => Promise<T> | T): Promise<{ readonly value: T } | { readonly error: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    return { error: String(error) };
  }
}
