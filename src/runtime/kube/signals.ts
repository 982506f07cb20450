export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Lets go of the parent signal; without it a signal that lives as long as the process would collect listeners. */
  release(): void;
}

/** A signal that is aborted with its parent, or alone through `abort`. */
export function linkSignal(parent: AbortSignal): LinkedSignal {
  const own = new AbortController();
  const onAbort = () => own.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener("abort", onAbort, { once: true });
  return { signal: own.signal, abort: (reason) => own.abort(reason), release: () => parent.removeEventListener("abort", onAbort) };
}

/** The outcome of `promise`, or the signal's reason as soon as it is aborted; the promise itself goes on for whoever shares it. */
export function abandonable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      // Somebody has to hear how it ends.
      promise.catch(() => {});
      return reject(signal.reason);
    }
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
