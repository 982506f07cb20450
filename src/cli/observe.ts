import { UnavailableError } from "../domain/errors.ts";

const AGAIN_MS = 1_000;
/** Longer than a control plane takes to be replaced, or a proxy to notice. In ms. */
const TIMEOUT_MS = 120_000;

export interface ReadOptions {
  tell(line: string): void;
  /** Nobody is asked again once it aborts. */
  readonly signal?: AbortSignal;
  /** How long nobody is waited for, in ms. */
  readonly timeoutMs?: number;
}

/** Reads what is watched. What is watched goes on without the server that was asked: nobody there is waited for, for a while. */
export async function observe<T>(read: () => Promise<T>, { tell, signal, timeoutMs = TIMEOUT_MS }: ReadOptions): Promise<T> {
  const since = Date.now();
  for (let reported = ""; ; ) {
    try {
      return await read();
    } catch (error) {
      const isOver = Date.now() - since > timeoutMs || signal?.aborted === true;
      if (!(error instanceof UnavailableError) || isOver) throw error;
      if (reported !== error.message) tell(`${error.message}; it is asked again`);
      reported = error.message;
      await rest(AGAIN_MS, signal);
    }
  }
}

/** Waits so long, or until somebody is in a hurry. */
export function rest(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake, { once: true });
  });
}
